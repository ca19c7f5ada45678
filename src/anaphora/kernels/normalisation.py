"""Layer normalisation (Ba, Kiros and Hinton 2016, equation 4), forward and back.

1  d = a - mean(a),   s = sqrt(mean(d * d) + eps)          means over one row, so a row stands for itself
2  n = d / s
3  y = gain * n (+ bias)
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.products import PartProducts, Products

_EPSILON = 1e-5
"""Keeps a row of equal numbers from being divided by zero."""


class Normal(NamedTuple):
    """A block normalised row by row, and what going back needs."""

    n: Tensor
    """Mean 0 and variance 1 in every row."""
    inverse: Tensor
    """1 / s of each row, with 1 as its width."""


def normal(a_XBW: Tensor) -> Normal:
    """Steps 1 and 2; the bits of a row depend on that row alone."""
    n_XBW, _, inverse_XB1 = torch.native_layer_norm(a_XBW, a_XBW.shape[-1:], None, None, _EPSILON)
    return Normal(n_XBW, inverse_XB1)


def normal_back(saved: Normal, dn_XBW: Tensor) -> Tensor:
    """The gradient da = (dn - mean(dn) - n * mean(dn * n)) / s; "Layer normalisation" in ``kernels/README.md``."""
    n_XBW, inverse_XB1 = saved
    along_n_XB1 = (dn_XBW * n_XBW).mean(-1, keepdim=True)
    return (dn_XBW - dn_XBW.mean(-1, keepdim=True) - n_XBW * along_n_XB1) * inverse_XB1


@dataclass(frozen=True)
class Normalise:
    """y = gain * n (+ bias), where n is the sum of the signals named in ``inputs``, normalised."""

    name: str
    inputs: tuple[str, ...]
    target: str
    bias: bool

    by_sentence: ClassVar[bool] = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The inputs."""
        return self.inputs

    @property
    def writes(self) -> tuple[str, ...]:
        """The target."""
        return (self.target,)

    def forward(self, products: Products, inputs: tuple[Tensor, ...]) -> tuple[tuple[Tensor, ...], Normal]:
        """Steps 1 to 3."""
        product = products.of(self.name)
        saved = normal(sum(inputs[1:], inputs[0]))  # 1, 2
        y_XBW = saved.n * product.vector("gain")  # 3
        return (y_XBW + product.vector("bias") if self.bias else y_XBW,), saved

    def backward(self, products: Products, saved: Normal, doutputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Steps 3 to 1 undone; every input has the same gradient."""
        product, (dy_XBW,) = products.of(self.name), doutputs
        if self.bias:
            product.add_gradient("bias", dy_XBW.sum((0, 1)))  # 3
        product.add_gradient("gain", (dy_XBW * saved.n).sum((0, 1)))
        return (normal_back(saved, dy_XBW * product.vector("gain")),) * len(self.inputs)  # 2, 1


class UnitProducts(PartProducts):
    """The recurrent products of a unit, with what may stand between the unit and its matrices.

    With ``masked``, what goes into every product is multiplied by the memory tensor ``mask`` (B x H): dropout of the
    recurrent state with one mask for all steps of a sentence (Gal and Ghahramani 2016, section 4.1). With
    ``normalised``, what comes out of product ``h`` is normalised and scaled by the vector ``h_gain``. With
    ``conditioned``, the memory tensor ``condition`` (B x N) is added to what comes out of product ``h`` alone (Cho et
    al. 2014, appendix A.1.2). The unit itself knows of none of them, so they work for every unit.
    """

    def __init__(
        self,
        products: Products,
        part: str,
        masked: bool,
        normalised: bool,
        conditioned: bool,
        kept: tuple[tuple[str, Normal], ...] = (),
    ) -> None:
        """``kept`` is what going back needs: what ``normals`` was after going forward."""
        super().__init__(products, part)
        self._masked, self._normalised, self._conditioned = masked, normalised, conditioned
        self._normals = list(kept)

    @property
    def normals(self) -> tuple[tuple[str, Normal], ...]:
        """What came out of each product, normalised, in the order in which the products were asked for."""
        return tuple(self._normals)

    def __call__(self, name: str, a_XBK: Tensor) -> Tensor:
        """y = gain * normal(W (mask * a)) + condition."""
        if self._masked:
            a_XBK = a_XBK * self.sentences("mask", a_XBK.shape[1])
        y_XBN = super().__call__(name, a_XBK)
        if self._normalised:
            saved = normal(y_XBN)
            self._normals.append((name, saved))
            y_XBN = saved.n * self.vector(f"{name}_gain")
        return y_XBN + self.sentences("condition", y_XBN.shape[1]) if self._conditioned and name == "h" else y_XBN

    def back(self, name: str, dy_XBN: Tensor) -> Tensor:
        """Condition, gain, normalisation, product and mask undone; the latest product of that name first."""
        if self._conditioned and name == "h":
            self.add_gradient("condition", dy_XBN.sum(0))
        if self._normalised:
            latest = max(number for number, (asked, _) in enumerate(self._normals) if asked == name)
            _, saved = self._normals.pop(latest)
            self.add_gradient(f"{name}_gain", (dy_XBN * saved.n).sum((0, 1)))
            dy_XBN = normal_back(saved, dy_XBN * self.vector(f"{name}_gain"))
        da_XBK = super().back(name, dy_XBN)
        return da_XBK * self.sentences("mask", da_XBK.shape[1]) if self._masked else da_XBK
