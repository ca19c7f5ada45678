"""Gated recurrent unit (Cho et al. 2014), with the two axes on which texts and libraries disagree.

    1  r, z = sigm(x_r + U_r h_{t-1}), sigm(x_z + U_z h_{t-1})
    2  reset = "before":  u = U_g (r * h_{t-1})          Bahdanau et al. 2015
       reset = "after":   u = r * (U_g h_{t-1} + b')     cuDNN, torch.nn.GRU; b' only with ``recurrent_bias``
    3  g = tanh(x_g + u)
    4  update = "new":    h_t = z * g + (1 - z) * h_{t-1}     Bahdanau et al. 2015
       update = "keep":   h_t = z * h_{t-1} + (1 - z) * g     Cho et al. 2014, torch.nn.GRU

The blocks of x and of the recurrent matrices stand in the order r, z, g of torch.nn.GRU.
"""

from typing import ClassVar, Generic, Literal, NamedTuple

import torch
from torch import Tensor

from anaphora.config import Conflict
from anaphora.kernels import compiled
from anaphora.kernels.cells.cell import Cell, State
from anaphora.kernels.lowering import Block, PartLowering, Value, Values
from anaphora.kernels.matmul import PartMatmuls
from anaphora.kernels.pointwise import sigmoid_


class _Saved(NamedTuple, Generic[Block]):
    gates: Block
    """r and z; with reset "after" also u before r scales it, U_g h_{t-1} + b'."""
    g: Block
    h_before: Block


class Gru(Cell):
    """The GRU."""

    kind: Literal["gru"] = "gru"
    reset: Literal["before", "after"] = "after"
    """Place of the reset gate: before or after the recurrent product."""
    update: Literal["new", "keep"] = "keep"
    """Meaning of an update gate of 1: take the new value, or keep the old one."""
    recurrent_bias: bool = False
    """With reset "after": a bias b' of its own inside the reset gate, as in torch.nn.GRU."""

    gates: ClassVar[int] = 3

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"recurrent_bias": True, "reset": "before"}, 'set {at}reset = "after", or {at}recurrent_bias = false'),
    )

    @property
    def matmuls(self) -> tuple[tuple[str, int], ...]:
        """One product when the reset gate comes after it, two when it comes before."""
        return (("h", 3),) if self.reset == "after" else (("h", 2), ("rh", 1))

    @property
    def vectors(self) -> tuple[str, ...]:
        """b', where there is one."""
        return ("bias",) if self.reset == "after" and self.recurrent_bias else ()

    def forward(self, x_BG: Tensor, state: State, matmul: PartMatmuls) -> tuple[State, _Saved[Tensor]]:
        """Steps 1 to 4."""
        (h_before,) = state
        size = h_before.shape[-1]
        gates = matmul("h", h_before)
        if self.vectors:
            gates[..., 2 * size :] += matmul.vector("bias")
        if self.reset == "before" or not matmul.native(gates):
            r, z = sigmoid_(gates[..., : 2 * size].add_(x_BG[..., : 2 * size])).chunk(2, -1)  # 1
            if self.reset == "after":
                g = torch.addcmul(x_BG[..., 2 * size :], r, gates[..., 2 * size :]).tanh_()  # 2, 3
            else:
                g = torch.add(matmul("rh", r * h_before), x_BG[..., 2 * size :]).tanh_()
            old, new = (h_before, g) if self.update == "new" else (g, h_before)
            return (torch.addcmul(old, z, new - old),), _Saved(gates, g, h_before)  # 4
        g, h = compiled.gru_forward(gates, x_BG, h_before, self.update == "keep")  # 1 to 4
        return (h,), _Saved(gates, g, h_before)

    def gates_of(self, saved: _Saved[Tensor]) -> dict[str, Tensor]:
        """r, z, and the new value g."""
        r, z = saved.gates[..., : 2 * saved.g.shape[-1]].chunk(2, -1)
        return {"r": r, "z": z, "g": saved.g}

    def backward(self, saved: _Saved[Tensor], dstate: State, matmul: PartMatmuls) -> tuple[Tensor, State]:
        """Steps 4 to 1 undone; section 3 of the derivation in ``kernels/README.md``."""
        (dh,) = dstate
        gates, g, h_before = saved
        if self.reset == "before" or not matmul.native(gates):
            size = g.shape[-1]
            r, z = gates[..., : 2 * size].chunk(2, -1)
            dnew = dh * z  # 4
            dold = dh - dnew
            dz = dh * (g - h_before) if self.update == "new" else dh * (h_before - g)
            dg, dh_before = (dnew, dold) if self.update == "new" else (dold, dnew)
            dx = gates.new_empty(*gates.shape[:-1], 3 * size)
            dx_g = torch.mul(dg, 1 - g * g, out=dx[..., 2 * size :])  # 3
            if self.reset == "after":
                dr = dx_g * gates[..., 2 * size :]  # 2
            else:
                drh = matmul.back("rh", dx_g)
                dr = drh * h_before
                dh_before = torch.addcmul(dh_before, drh, r)
            torch.mul(dr, r - r * r, out=dx[..., :size])  # 1
            torch.mul(dz, z - z * z, out=dx[..., size : 2 * size])
            da = torch.cat([dx[..., : 2 * size], dx_g * r], -1) if self.reset == "after" else dx[..., : 2 * size]
            return dx, (dh_before + self._through_matrix(da, matmul),)
        dx, da, dh_before = compiled.gru_backward(gates, g, h_before, dh, self.update == "keep")  # 4 to 1
        return dx, (dh_before.add_(self._through_matrix(da, matmul)),)

    def _through_matrix(self, da_BG: Tensor, matmul: PartMatmuls) -> Tensor:
        """U' da, and db' where there is one."""
        if self.vectors:
            du = da_BG[..., -da_BG.shape[-1] // 3 :]
            matmul.add_gradient("bias", du.sum(tuple(range(du.dim() - 1))))
        return matmul.back("h", da_BG)

    def lower(self, x: Value, state: Values, matmul: PartLowering) -> tuple[Values, _Saved[Value]]:
        """Steps 1 to 4."""
        (h_before,) = state
        gates, g, h = matmul("h", h_before), matmul.value(h_before.width), matmul.value(h_before.width)
        if self.vectors:
            matmul.run("add_to_last", (gates,), (gates, matmul.vector("bias")))
        if self.reset == "after":
            matmul.run(f"gru_step_{self.update}", (gates, g, h), (x, h_before))
        else:
            rh = matmul.value(h_before.width)
            matmul.run("gru_gates", (gates, rh), (x, h_before))  # 1, 2
            matmul.run(f"gru_new_{self.update}", (g, h), (matmul("rh", rh), x, gates, h_before))  # 3, 4
        return (h,), _Saved(gates, g, h_before)

    def lower_back(
        self, saved: _Saved[Value], dstate: tuple[Value | None, ...], matmul: PartLowering
    ) -> tuple[Value, Values]:
        """Steps 4 to 1 undone."""
        gates, _, h_before = saved
        size = h_before.width
        dh, dx, dh_before = matmul.given(dstate[0], size), matmul.value(3 * size), matmul.value(size, merges=True)
        if self.reset == "after":
            da = matmul.value(3 * size)
            matmul.run(f"gru_step_{self.update}_back", (dx, da, dh_before), (*saved, dh))
            if self.vectors:
                matmul.add_vector_gradient("bias", da)
        else:
            da, du = matmul.value(2 * size), matmul.value(size)
            matmul.run(f"gru_new_{self.update}_back", (dx, du, dh_before), (*saved, dh))  # 4, 3
            drh = matmul.back("rh", du)
            matmul.run("gru_gates_back", (dx, da, dh_before), (gates, h_before, drh), adds=(dh_before,))  # 2, 1
        matmul.add(dh_before, matmul.back("h", da))
        return dx, (dh_before,)
