"""Layer normalisation (Ba, Kiros and Hinton 2016, equation 4), forward and back.

1  d = a - mean(a),   s = sqrt(mean(d * d) + eps)          means over one row, so a row stands for itself
2  n = d / s
3  y = gain * n (+ bias)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from anaphora.kernels.lowering import Block, Lowering, PartLowering, Value, Values
from anaphora.kernels.matmul import Matmuls, PartMatmuls
from anaphora.kernels.sums import OfSum

if TYPE_CHECKING:
    from anaphora.kernels.parts import Unit

EPSILON = 1e-5
"""Keeps a row of equal numbers from being divided by zero."""


class Normal(NamedTuple, Generic[Block]):
    """A block as it was before steps 1 to 3, and what going back needs."""

    a: Block
    mean: Block
    """Of each row, with 1 as its width."""
    inverse: Block
    """1 / s of each row, the same."""


def normal(a_XBW: Tensor, gain_W: Tensor, bias_W: Tensor | None = None) -> tuple[Tensor, Normal[Tensor]]:
    """Steps 1 to 3, and what to keep of them; the bits of a row depend on that row alone."""
    y_XBW, *rows = torch.native_layer_norm(a_XBW, a_XBW.shape[-1:], gain_W, bias_W, EPSILON)
    return y_XBW, Normal(a_XBW, *rows)


def normal_back(saved: Normal[Tensor], dy_XBW: Tensor, gain_W: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients da and dgain, by torch's reading of what ``kernels/README.md`` derives, in one pass.

    da = (dn - mean(dn) - n * mean(dn * n)) / s with dn = dy * gain; dgain is the sum of dy * n over all rows.
    """
    a_XBW, mean_XB1, inverse_XB1 = saved
    da_XBW, dgain_W, _ = torch.ops.aten.native_layer_norm_backward(
        dy_XBW, a_XBW, a_XBW.shape[-1:], mean_XB1, inverse_XB1, gain_W, None, [True, True, False]
    )
    return da_XBW, dgain_W


@dataclass(frozen=True)
class Normalise(OfSum):
    """y = gain * n (+ bias), where n is the sum of the signals named in ``inputs``, normalised."""

    bias: bool

    def forward(self, matmuls: Matmuls, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Normal[Tensor]]:
        """Steps 1 to 3."""
        matmul = matmuls.of(self.name)
        bias_W = matmul.vector("bias") if self.bias else None
        y_XBW, saved = normal(sum(inputs[1:], inputs[0]), matmul.vector("gain"), bias_W)
        return (y_XBW,), saved

    def backward(self, matmuls: Matmuls, saved: Normal[Tensor], doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Steps 3 to 1 undone; every input has the same gradient."""
        matmul, (dy_XBW,) = matmuls.of(self.name), doutputs
        if self.bias:
            matmul.add_gradient("bias", dy_XBW.sum((0, 1)))
        da_XBW, dgain_W = normal_back(saved, dy_XBW, matmul.vector("gain"))
        matmul.add_gradient("gain", dgain_W)
        return (da_XBW,) * len(self.inputs)

    def lower(self, ops: Lowering, inputs: Values) -> tuple[Values, Normal[Value]]:
        """Steps 1 to 3."""
        part = ops.of(self.name)
        y, saved = lowered_normal(part, "gain", ops.sum(inputs, keeps=True))
        if self.bias:
            ops.run("add_vector", (y,), (y, part.vector("bias")))
        return (y,), saved

    def lower_back(self, ops: Lowering, saved: Normal[Value], doutputs: tuple[Value, ...]) -> Values:
        """Steps 3 to 1 undone; every input has the same gradient."""
        part = ops.of(self.name)
        if self.bias:
            part.add_vector_gradient("bias", doutputs[0])
        return (lowered_normal_back(part, "gain", saved, doutputs[0]),) * len(self.inputs)


Saved = TypeVar("Saved")


def _pop_latest(normals: list[tuple[str, Saved]], name: str) -> Saved:
    latest = max(number for number, (asked, _) in enumerate(normals) if asked == name)
    return normals.pop(latest)[1]


class UnitMatmuls(PartMatmuls):
    """The recurrent products of a unit, with what may stand between the unit and its matrices.

    With ``masked``, what goes into every product is multiplied by the memory tensor ``mask`` (B x H): dropout of the
    recurrent state with one mask for all steps of a sentence (Gal and Ghahramani 2016, section 4.1). With
    ``normalised``, what comes out of each product is normalised and scaled by a vector, ``h_gain`` for ``h``. With
    ``conditioned``, the memory tensor ``condition`` (B x N) is added to what comes out of product ``h`` alone (Cho et
    al. 2014, appendix A.1.2). The unit itself knows of none of them, so they work for every unit.
    """

    def __init__(self, matmuls: Matmuls, unit: "Unit", kept: Iterable[tuple[str, Normal[Tensor]]] = ()) -> None:
        """``kept`` is what going back needs: what ``normals`` was after going forward."""
        super().__init__(matmuls, unit.name)
        self._unit, self.normals = unit, list(kept)
        """``normals`` are the normalizations of the products, in the order in which they were asked for."""

    def __call__(self, name: str, a_XBK: Tensor) -> Tensor:
        """y = gain * normal(W (mask * a)) + condition."""
        if self._unit.masked:
            a_XBK = a_XBK * self.sentences("mask", a_XBK.shape[1])
        y_XBN = super().__call__(name, a_XBK)
        if self._unit.normalised:
            y_XBN, saved = normal(y_XBN, self.vector(f"{name}_gain"))
            self.normals.append((name, saved))
        return y_XBN + self.sentences("condition", y_XBN.shape[1]) if self._unit.conditioned and name == "h" else y_XBN

    def back(self, name: str, dy_XBN: Tensor) -> Tensor:
        """Condition, gain, normalisation, product and mask undone; the latest product of that name first."""
        if self._unit.conditioned and name == "h":
            self.add_gradient("condition", dy_XBN.sum(0))
        if self._unit.normalised:
            saved = _pop_latest(self.normals, name)
            dy_XBN, dgain_N = normal_back(saved, dy_XBN, self.vector(f"{name}_gain"))
            self.add_gradient(f"{name}_gain", dgain_N)
        da_XBK = super().back(name, dy_XBN)
        return da_XBK * self.sentences("mask", da_XBK.shape[1]) if self._unit.masked else da_XBK


def lowered_normal(part: PartLowering, gain: str, a: Value) -> tuple[Value, Normal[Value]]:
    """Steps 1 to 3."""
    y, saved = part.value(a.width), Normal(a, part.value(1), part.value(1))
    part.run("normal_rows", (y, saved.mean, saved.inverse), (a, part.vector(gain)))
    return y, saved


def lowered_normal_back(part: PartLowering, gain: str, saved: Normal[Value], dy: Value) -> Value:
    """da = (dn - mean(dn) - n * mean(dn * n)) / s with dn = dy * gain; dgain is the sum of dy * n over all rows."""
    da, dgain = part.value(dy.width), part.vector_gradient_by_sentence(gain)
    part.run("normal_rows_back", (da, dgain), (dy, *saved, part.vector(gain)))
    return da


class UnitLowering(PartLowering):
    """``UnitMatmuls`` for values."""

    def __init__(self, ops: Lowering, unit: "Unit", kept: Iterable[tuple[str, Normal[Value]]] = ()) -> None:
        """``kept`` is what ``normals`` was after going forward."""
        super().__init__(ops, unit.name)
        self._unit, self.normals = unit, list(kept)
        """``normals`` are the normalizations of the products, in the order in which they were asked for."""

    def __call__(self, name: str, a: Value) -> Value:
        """y = gain * normal(W (mask * a)) + condition."""
        if self._unit.masked:
            masked = self.value(a.width)
            self.run("multiply_rows", (masked,), (a, self.sentences("mask")))
            a = masked
        y = super().__call__(name, a)
        if self._unit.normalised:
            y, saved = lowered_normal(self, f"{name}_gain", y)
            self.normals.append((name, saved))
        if self._unit.conditioned and name == "h":
            self.run("add_rows", (y,), (y, self.sentences("condition")))
        return y

    def back(self, name: str, dy: Value) -> Value:
        """Condition, gain, normalisation, product and mask undone; the latest product of that name first."""
        if self._unit.conditioned and name == "h":
            self.add(self.gradient("condition"), dy)
        if self._unit.normalised:
            saved = _pop_latest(self.normals, name)
            dy = lowered_normal_back(self, f"{name}_gain", saved, dy)
        da = super().back(name, dy)
        if self._unit.masked:
            masked = self.value(da.width, merges=True)
            self.run("multiply_rows", (masked,), (da, self.sentences("mask")))
            da = masked
        return da
