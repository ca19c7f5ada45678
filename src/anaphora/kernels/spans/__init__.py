"""The spans of attention; a new one is a file and a name in ``AnySpan``."""

from anaphora.kernels.spans.local import LocalMonotonic, LocalPredictive
from anaphora.kernels.spans.median import Median
from anaphora.kernels.spans.span import Focus, Global, Span

AnySpan = Global | LocalMonotonic | LocalPredictive | Median
"""A span as a recipe names it: ``"global"``, or ``{kind = "local-p", window = 10}``."""

__all__ = ["AnySpan", "Focus", "Global", "LocalMonotonic", "LocalPredictive", "Median", "Span"]
