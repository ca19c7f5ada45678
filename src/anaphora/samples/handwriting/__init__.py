"""Handwriting that the package makes: letters as strokes, written by many made-up hands."""

from anaphora.samples.handwriting.corpus import write
from anaphora.samples.handwriting.writing import Line, lines, written

__all__ = ["Line", "lines", "write", "written"]
