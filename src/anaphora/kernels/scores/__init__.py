"""The scores of attention, one file each; a new one is a file and a name in ``AnyScore``."""

from anaphora.kernels.scores.concat import Concat
from anaphora.kernels.scores.dot import Dot
from anaphora.kernels.scores.general import General
from anaphora.kernels.scores.hybrid import Hybrid
from anaphora.kernels.scores.location import Location
from anaphora.kernels.scores.score import Score

AnyScore = Dot | General | Concat | Location | Hybrid
"""A score as a recipe names it: ``"general"``, or ``{kind = "general", scaled = true}``."""

__all__ = ["AnyScore", "Concat", "Dot", "General", "Hybrid", "Location", "Score"]
