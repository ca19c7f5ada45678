"""The recurrent units, one file each; a new one is a file and a name in ``AnyCell``, or a class that is registered."""

from typing import Any, TypeVar, get_args

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.cells.elman import Elman
from anaphora.kernels.cells.gru import Gru
from anaphora.kernels.cells.light import AnyLight
from anaphora.kernels.cells.lstm import Lstm
from anaphora.kernels.cells.lstm_variants import AnyVariant, TwoGate
from anaphora.kernels.cells.mogrifier import Mogrifier
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.cells.peephole import Peephole

AnyCell = Lstm | Gru | Elman | AnyVariant | Peephole | TwoGate | Multiplicative | Mogrifier | AnyLight
"""A unit as a recipe names it: ``"gru"``, or ``{kind = "gru", reset = "before"}``."""

CELLS: dict[str, type[Any]] = {one.kind: one for one in get_args(AnyCell)}
"""Every unit by its name in recipes, those of callers among them."""

Unit = TypeVar("Unit", bound=type[Cell])


def register(unit: Unit) -> Unit:
    """Let options, stored runs and diagrams know a unit of yours by its ``kind``; a decorator of its class."""
    CELLS[unit.kind] = unit
    return unit


__all__ = ["AnyCell", "Cell", "Elman", "Gru", "Lstm", "Peephole"]
