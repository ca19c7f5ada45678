"""Single steps of a loop in C, for search: what a step does is listed once, and each further step only fills in where.

A list is of one stage for X hypotheses of B sentences, over certain weights and memory. It is used again as long as
these are the same tensors, and goes with them: what search drops is not kept alive by it.
"""

import weakref
from array import array
from collections import OrderedDict
from typing import NamedTuple

from torch import Tensor

from anaphora.kernels import compiled
from anaphora.kernels.compiled import Place
from anaphora.kernels.listed import lowered, one_step
from anaphora.kernels.lowering import Lowering, Value
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.program import Stage

_MOST = 64
"""Lists that are kept."""

_Key = tuple[int, int, int]
_kept: "OrderedDict[_Key, _Steps]" = OrderedDict()
"""By stage, hypotheses and sentences."""


def advance(stage: Stage, matmuls: Matmuls, signals: dict[str, Tensor]) -> None:
    """Take one step, X hypotheses of B sentences side by side: adds what the stage writes to ``signals``."""
    like = signals[stage.parts[0].reads[0]]
    hypotheses, sentences, _ = like.shape
    key = id(stage), hypotheses, sentences
    steps = _kept.get(key)
    if not steps or not steps.suit(matmuls):
        steps = _Steps(stage, matmuls, signals, like)
        if matmuls.lasting:
            steps.keep(key, matmuls)
    steps.take(signals, like)


class _Asked(NamedTuple):
    """A weight or a memory tensor that a list has the address of."""

    tensor: weakref.ref[Tensor]
    state: tuple[int, int]

    @classmethod
    def of(cls, tensor: Tensor) -> "_Asked":
        """As it is now."""
        return cls(weakref.ref(tensor), _state(tensor))

    def is_still(self, tensor: Tensor) -> bool:
        """Whether a tensor is this one, unchanged."""
        return self.tensor() is tensor and self.state == _state(tensor)


def _state(tensor: Tensor) -> tuple[int, int]:
    """What changes when its numbers do, or where they lie."""
    return tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version


class _Steps:
    """What a step of one stage does."""

    def __init__(self, stage: Stage, matmuls: Matmuls, signals: dict[str, Tensor], like: Tensor) -> None:
        """``signals``: of a first step, for their sizes; ``like``: one of them."""
        self._stage = stage  # lives on, so that no other has its identity
        self._active = [like.shape[:2].numel()]
        ops = Lowering(matmuls, one_step(*self._active), like, keeps=True, hypotheses=like.shape[0])
        reads = {read for part in stage.parts for read in part.reads if read in signals}
        given = {read: Value(signals[read].shape[2], place=Place.NOW) for read in reads}
        values = lowered(ops, stage.parts, given)
        self._written = {name: values[name].width for part in stage.parts for name in part.writes}
        self._threads, self._packed, self._numbers = ops.threads, ops.packed, compiled.entries(ops.operations())
        self._asked = {name: _Asked.of(tensor) for name, tensor in ops.asked.items()}

        places, self._size = ops.laid_out()
        names = {values[name]: name for name in (*given, *self._written)}
        self._signals, self._others = list[tuple[int, str]](), list[tuple[int, int]]()
        self._fixed = list[Tensor]()  # to be there when they are read
        for operation, operand, value in ops.operands():
            place = compiled.place_of(operation, operand)
            if value in names:
                self._signals.append((place, names[value]))
            elif value in places:
                self._others.append((place, places[value][0] * like.element_size()))
            elif value.tensor is not None:
                self._fixed.append(value.tensor)

    def suit(self, matmuls: Matmuls) -> bool:
        """Whether these are the steps over its weights and memory."""
        return all(asked.is_still(matmuls.tensor(name)) for name, asked in self._asked.items()) and all(
            matmuls.packed(name, back=False) is packed for name, packed in self._packed.items()
        )

    def take(self, signals: dict[str, Tensor], like: Tensor) -> None:
        """Take one."""
        blocks = {name: signals[name].contiguous() for _, name in self._signals if name not in self._written}
        blocks |= {name: like.new_empty(*like.shape[:2], width) for name, width in self._written.items()}
        addresses, others = {name: block.data_ptr() for name, block in blocks.items()}, like.new_empty(self._size)
        numbers, begins = array("q", self._numbers), others.data_ptr()
        for place, name in self._signals:
            numbers[place] = addresses[name]
        for place, at in self._others:
            numbers[place] = begins + at
        compiled.loop(numbers, self._active, like.shape[0], False, self._threads)
        signals |= {name: blocks[name] for name in self._written}

    def keep(self, key: _Key, matmuls: Matmuls) -> None:
        """Be used again, until a tensor of the memory goes or there are too many."""
        _kept[key] = self
        _kept.move_to_end(key)
        if len(_kept) > _MOST:
            _kept.popitem(last=False)
        for name in self._asked:
            if not matmuls.is_weight(name):
                weakref.finalize(matmuls.tensor(name), _kept.pop, key, None)
