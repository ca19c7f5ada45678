"""The page that records pen strokes."""

from importlib import resources


def page() -> str:
    """The HTML of the page: one file, which makes no request."""
    return (resources.files("anaphora.tasks.trace") / "page.html").read_text(encoding="utf-8")
