"""Words from their characters: convolutions, the maximum over the word, highways (Kim et al. 2016, section 2).

For a word of characters c_1 .. c_l, with e_j the vector of c_j, and 0 past the end of the word:

    1  a^w_j = H_w [e_j; ..; e_{j+w-1}] + b_w         at every character j, for each width w
    2  y^w = tanh(max_j a^w_j),  y = [y^1; y^2; ..]   the same as max_j tanh(a^w_j), since tanh grows
    3  t = sigm(W_t y + b_t),  g = relu(W_g y + b_g)  a highway (Srivastava et al. 2015)
    4  z = t * g + (1 - t) * y                        the y of the next highway, if there is one

The backward pass is section 15 of ``kernels/README.md``. Characters of all words lie one after the other
(``R`` rows), so that nothing is computed for padding.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.kernels.autograd_bridge import apply_derived
from anaphora.kernels.matmul import Matmuls
from anaphora.kernels.pointwise import sigmoid_, sigmoid_back_, tanh_back_
from anaphora.shapes import check_shapes


class Shape(NamedTuple):
    widths: int
    """Convolutions have the widths 1 to this."""
    highways: int

    def names(self) -> list[str]:
        """Return the weights in the order that the function takes them in."""
        parts = [*(f"width{width}" for width in range(1, self.widths + 1))]
        parts += [f"{kind}{layer}" for layer in range(self.highways) for kind in ("transform", "hidden")]
        return ["characters.weight", *(f"{part}.{short}" for part in parts for short in ("weight", "bias"))]


def spelt(characters_NL: Tensor, lengths_N: Tensor, weights: Mapping[str, Tensor], shape: Shape) -> Tensor:
    """Return the vectors of N words, N x F, where F is the number of filters of all widths.

    Raises ShapeError where characters and lengths do not agree.

    Args:
        characters_NL: int64; what lies past the end of a word is not looked at.
        lengths_N: int64, at least 1.
        weights: under the names of ``shape``: a row for every character, H_w as F_w x w E, and the highways' matrices.
        shape: how many of them there are.
    """
    check_shapes(characters_NL=characters_NL, lengths_N=lengths_N)
    given = {name: weights[name] for name in shape.names()}
    recording = torch.is_grad_enabled() and any(weight.requires_grad for weight in given.values())
    matmuls, rows = Matmuls(given, {}, recording), _rows(characters_NL, lengths_N, shape.widths)

    def forward(recording: bool, table_CE: Tensor, *others: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        x_RWE = table_CE[rows.ids_RW].where(rows.inside_RW.unsqueeze(-1), 0)
        sums = [_affine(matmuls, f"width{w}", x_RWE[:, :w].flatten(1)) for w in range(1, shape.widths + 1)]
        a_RF = torch.cat(sums, 1)  # 1
        top_NF, place_NF = _maxima(a_RF, rows, lengths_N, recording)
        first_NF = y_NF = top_NF.tanh_()  # 2
        highways = []
        for layer in range(shape.highways):
            t_NF = sigmoid_(_affine(matmuls, f"transform{layer}", y_NF))  # 3
            g_NF = _affine(matmuls, f"hidden{layer}", y_NF).relu_()
            highways += [y_NF, t_NF, g_NF]
            y_NF = y_NF + t_NF * (g_NF - y_NF)  # 4
        return y_NF, (place_NF, first_NF, *highways, table_CE, *others) if recording else ()

    def backward(saved: Sequence[Tensor], dz_NF: Tensor) -> list[Tensor]:
        place_NF, y_NF, *highways = saved
        for layer in reversed(range(shape.highways)):
            dz_NF = _highway_back(layer, highways[3 * layer : 3 * layer + 3], dz_NF, matmuls)  # 4, 3
        dtop_NF = tanh_back_(dz_NF.clone(), y_NF)  # 2
        da_RF = dtop_NF.new_zeros(len(rows.ids_RW), dtop_NF.shape[1])
        da_RF.scatter_(0, rows.begins_N.unsqueeze(1) + place_NF, dtop_NF)
        table_CE = matmuls.given("characters.weight")
        dx_RWE = da_RF.new_zeros(*rows.ids_RW.shape, table_CE.shape[1])
        sizes = [len(matmuls.given(f"width{w}.bias")) for w in range(1, shape.widths + 1)]
        for w, da_RN in enumerate(torch.split(da_RF, sizes, 1), 1):  # 1
            dx_RWE[:, :w] += _affine_back(matmuls, f"width{w}", da_RN.contiguous()).view_as(dx_RWE[:, :w])
        dtable_CE = matmuls.gradient("characters.weight", len(table_CE))
        dtable_CE.index_add_(0, rows.ids_RW[rows.inside_RW], dx_RWE[rows.inside_RW])
        gradients = matmuls.gradients()
        return [gradients[name] for name in given]

    return apply_derived(forward, backward, *given.values())


class _Rows(NamedTuple):
    """The characters of all words, and those that follow each within its word."""

    ids_RW: Tensor
    inside_RW: Tensor
    """True if there is such a character."""
    begins_N: Tensor
    """The row of each word's first character."""
    word_R: Tensor
    place_R: Tensor
    """Place of a row's character in its word."""


def _maxima(a_RF: Tensor, rows: _Rows, lengths_N: Tensor, recording: bool) -> tuple[Tensor, Tensor]:
    """The largest of each filter over the characters of each word, and where it is; that only where ``recording``.

    Words of 1, 2, 3 to 4, 5 to 8, .. characters are taken together, so that one long word widens few others.
    """
    top_NF = a_RF.new_empty(len(lengths_N), a_RF.shape[1])
    place_NF = torch.empty_like(top_NF if recording else top_NF[:0], dtype=torch.int64)
    class_N = torch.frexp(lengths_N.float() - 0.5).exponent
    for group in torch.unique(class_N).tolist():
        member_N = class_N == group
        inside_R = member_N[rows.word_R]
        number_N = member_N.cumsum(0) - 1
        grid_NLF = a_RF.new_full((int(member_N.sum()), int(lengths_N[member_N].max()), a_RF.shape[1]), -torch.inf)
        grid_NLF[number_N[rows.word_R[inside_R]], rows.place_R[inside_R]] = a_RF[inside_R]
        if recording:
            top_NF[member_N], place_NF[member_N] = grid_NLF.max(1)
        else:
            top_NF[member_N] = grid_NLF.amax(1)
    return top_NF, place_NF


def _affine(matmuls: Matmuls, part: str, a_RK: Tensor) -> Tensor:
    """W a + b."""
    return matmuls.times(f"{part}.weight", a_RK) + matmuls.given(f"{part}.bias")


def _affine_back(matmuls: Matmuls, part: str, dy_RN: Tensor) -> Tensor:
    """Return the gradient of a, and the record of those of W and b."""
    matmuls.add_gradient(f"{part}.bias", dy_RN.sum(0))
    return matmuls.times_back(f"{part}.weight", dy_RN)


def _highway_back(layer: int, saved: Sequence[Tensor], dz_NF: Tensor, matmuls: Matmuls) -> Tensor:
    """Steps 4 and 3 undone; the gradient of y."""
    y_NF, t_NF, g_NF = saved
    dt_NF, dg_NF = dz_NF * (g_NF - y_NF), dz_NF * t_NF * (g_NF > 0)  # 4
    dy_NF = dz_NF - dz_NF * t_NF
    dy_NF += _affine_back(matmuls, f"transform{layer}", sigmoid_back_(dt_NF, t_NF))  # 3
    dy_NF += _affine_back(matmuls, f"hidden{layer}", dg_NF)
    return dy_NF


def _rows(characters_NL: Tensor, lengths_N: Tensor, widths: int) -> _Rows:
    """Return every character with the ``widths - 1`` that follow it."""
    begins_N = lengths_N.cumsum(0) - lengths_N
    word_R = torch.repeat_interleave(lengths_N)
    place_R = torch.arange(len(word_R), device=word_R.device) - begins_N[word_R]
    place_RW = place_R.unsqueeze(1) + torch.arange(widths, device=word_R.device)
    inside_RW = place_RW < lengths_N[word_R].unsqueeze(1)
    ids_RW = characters_NL[word_R.unsqueeze(1), place_RW.where(inside_RW, 0)]
    return _Rows(ids_RW, inside_RW, begins_N, word_R, place_R)
