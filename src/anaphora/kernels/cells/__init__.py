"""The recurrent units, one file each; a new one is a file and a name in ``AnyCell``."""

from typing import Annotated

from pydantic import Field

from anaphora.config import by_kind
from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.cells.gru import Gru
from anaphora.kernels.cells.lstm import Lstm

AnyCell = Annotated[Lstm | Gru, Field(discriminator="kind"), by_kind]
"""A unit as a recipe names it: ``"gru"``, or ``{kind = "gru", reset = "before"}``."""

__all__ = ["AnyCell", "Cell", "Gru", "Lstm", "State"]
