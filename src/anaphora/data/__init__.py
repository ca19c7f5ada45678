"""Corpora as batches: what ``--data`` means, encoded once into memory-mapped files, in an order one can resume."""
