"""The recurrent units, one file each; a new one is a file and a name in ``AnyCell``."""

from anaphora.kernels.cells.cell import Cell, Forgetting
from anaphora.kernels.cells.elman import Elman
from anaphora.kernels.cells.gru import Gru
from anaphora.kernels.cells.lstm import Lstm
from anaphora.kernels.cells.lstm_variants import (
    LstmAdditive,
    LstmForget,
    LstmInput,
    LstmNoForget,
    LstmNoOutputTanh,
    TwoGate,
)
from anaphora.kernels.cells.multiplicative import Multiplicative
from anaphora.kernels.cells.peephole import Peephole

AnyCell = (
    Lstm
    | Gru
    | Elman
    | LstmAdditive
    | LstmInput
    | LstmForget
    | LstmNoOutputTanh
    | LstmNoForget
    | Peephole
    | TwoGate
    | Multiplicative
)
"""A unit as a recipe names it: ``"gru"``, or ``{kind = "gru", reset = "before"}``."""

__all__ = [
    "AnyCell",
    "Cell",
    "Elman",
    "Forgetting",
    "Gru",
    "Lstm",
    "LstmAdditive",
    "LstmForget",
    "LstmInput",
    "LstmNoForget",
    "LstmNoOutputTanh",
    "Multiplicative",
    "Peephole",
    "TwoGate",
]
