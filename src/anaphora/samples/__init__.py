"""Generated corpora for the quickstart and for tests."""
