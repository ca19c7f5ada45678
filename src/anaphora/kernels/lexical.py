"""The lexical model: attended words of the source predict the next word (Nguyen and Chiang 2018, section 4).

1  c_t = tanh(sum_s a_t(s) f_s)          f_s are the word vectors of the source
2  h_t = tanh(W c_t) + c_t
3  y_t = [o_t; h_t]

The output layer has a matrix for each of o_t and h_t, and adds up both products. No later step reads y_t, so all steps
are computed at once in training.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anaphora.kernels.ops import Ops, V
from anaphora.kernels.parts import Part


@dataclass(frozen=True)
class Lexical(Part):
    """The lexical model of attention ``weights``, behind the readout.

    Memory tensors: ``<name>.values``, the word vectors, and ``<name>.closed`` and ``<name>.length`` as of ``Attend``.
    """

    readout: str
    target: str

    by_sentence: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.readout, "weights")

    @property
    def writes(self) -> tuple[str, ...]:
        return (self.target,)

    def forward(self, ops: Ops[V], inputs: Sequence[V]) -> tuple[Sequence[V], Any]:
        """Steps 1 to 3."""
        (o, a), open_ = inputs, ops.whole()
        c = ops.tanh(ops.mix("values", a, open_))  # 1
        t = ops.tanh(ops.times("layer", c))
        return [ops.join(o, ops.add(t, c))], (ops.width(o), ops.width(c), open_, c, t)  # 2, 3

    def backward(self, ops: Ops[V], saved: Any, doutputs: Sequence[V]) -> Sequence[V]:
        """Step 3 undone, 2: dc = dh + W' (dh (1 - t^2)), and 1: da = (dc (1 - c^2)) F'."""
        readout, words, open_, c, t = saved
        do, dh = ops.split(doutputs[0], readout, words)  # 3
        dc = ops.add(dh, ops.back("layer", ops.tanh_back(t, dh)))  # 2
        return [do, ops.mix_back("values", ops.tanh_back(c, dc), open_)]  # 1
