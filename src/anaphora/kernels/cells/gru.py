"""Gated recurrent unit (Cho et al. 2014), with the two axes on which texts and libraries disagree.

    1  r, z = sigm(x_r + U_r h_{t-1}), sigm(x_z + U_z h_{t-1})
    2  reset = "before":  u = U_g (r * h_{t-1})          Bahdanau et al. 2015
       reset = "after":   u = r * (U_g h_{t-1} + b')     cuDNN, torch.nn.GRU; b' only with ``recurrent_bias``
    3  g = tanh(x_g + u)
    4  update = "new":    h_t = z * g + (1 - z) * h_{t-1}     Bahdanau et al. 2015
       update = "keep":   h_t = z * h_{t-1} + (1 - z) * g     Cho et al. 2014, torch.nn.GRU

The blocks of x and of the recurrent matrices stand in the order r, z, g of torch.nn.GRU.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import Cell
from anaphora.kernels.ops import Ops, V
from anaphora.options import Conflict


class Gru(Cell):
    """The GRU."""

    kind: Literal["gru"] = "gru"
    reset: Literal["before", "after"] = "after"
    """Place of the reset gate: before or after the recurrent product."""
    update: Literal["new", "keep"] = "keep"
    """Meaning of an update gate of 1: take the new value, or keep the old one."""
    recurrent_bias: bool = False
    """Bias b' inside the reset gate, with reset "after", as in torch.nn.GRU."""

    blocks: ClassVar[str] = "rzg"
    gate_names: ClassVar[Mapping[str, str]] = {"r": "reset gate", "z": "update gate"}
    candidate: ClassVar[str] = "g"

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"recurrent_bias": True, "reset": "before"}, 'set {at}reset = "after", or {at}recurrent_bias = false'),
    )

    @property
    def matmuls(self) -> tuple[tuple[str, str], ...]:
        """One product when the reset gate comes after it, two when it comes before."""
        return (("h", "rzg"),) if self.reset == "after" else (("h", "rz"), ("rh", "g"))

    @property
    def vectors(self) -> tuple[str, ...]:
        """b', where there is one."""
        return ("bias",) if self.reset == "after" and self.recurrent_bias else ()

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[V, ...]]:
        """Steps 1 to 4."""
        (h_before,) = state
        a, size = ops.times("h", h_before), ops.width(h_before)
        if self.vectors:
            a = ops.add_vector(a, "bias")
        if self.reset == "after":
            gates, g, h = ops.fuse(f"gru_step_{self.update}", self._step, (a, x, h_before), (a, size, size))
        else:
            gates, rh = ops.fuse("gru_gates", self._gates, (a, x, h_before), (a, size))
            u = ops.times("rh", rh)
            g, h = ops.fuse(f"gru_new_{self.update}", self._new, (u, x, gates, h_before), (size, size))
        return (h,), (gates, g, h_before)

    def _step(self, ops: Ops[V], a: V, x: V, h_before: V) -> Sequence[V]:
        (a_rz, a_g), (x_rz, x_g) = ops.split(a, 2, 1), ops.split(x, 2, 1)
        r_and_z = ops.sigmoid(ops.add(a_rz, x_rz))  # 1
        r, z = ops.split(r_and_z, 1, 1)
        g = ops.tanh(ops.add(x_g, ops.mul(r, a_g)))  # 2, 3
        return ops.join(r_and_z, a_g), g, self._mix(ops, z, g, h_before)  # 4

    def _gates(self, ops: Ops[V], a: V, x: V, h_before: V) -> Sequence[V]:
        r_and_z = ops.sigmoid(ops.add(a, ops.split(x, 2, 1)[0]))  # 1
        return r_and_z, ops.mul(ops.split(r_and_z, 1, 1)[0], h_before)

    def _new(self, ops: Ops[V], u: V, x: V, r_and_z: V, h_before: V) -> Sequence[V]:
        g = ops.tanh(ops.add(u, ops.split(x, 2, 1)[1]))  # 2, 3
        return g, self._mix(ops, ops.split(r_and_z, 1, 1)[1], g, h_before)  # 4

    def _mix(self, ops: Ops[V], z: V, g: V, h_before: V) -> V:
        old, new = (h_before, g) if self.update == "new" else (g, h_before)
        return ops.add(old, ops.mul(z, ops.sub(new, old)))  # 4

    def backward(self, ops: Ops[V], saved: tuple[V, ...], dstate: Sequence[V]) -> tuple[V, tuple[V, ...]]:
        """Steps 4 to 1 undone; section 3 of the derivation in ``kernels/README.md``."""
        (dh,), (gates, g, h_before) = dstate, saved
        size, read = ops.width(g), (gates, g, h_before, dh)
        if self.reset == "after":
            widths = 3 * size, 3 * size, size
            dx, da, dh_before = ops.fuse(f"gru_step_{self.update}_back", self._step_back, read, widths)
        else:
            widths = 3 * size, size, size
            dx, du, dh_before = ops.fuse(f"gru_new_{self.update}_back", self._new_back, read, widths)
            drh, writes = ops.back("rh", du), (dx, 2 * size, dh_before)
            read_too = gates, h_before, drh, dx, dh_before
            dx, da, dh_before = ops.fuse("gru_gates_back", self._gates_back, read_too, writes)
        if self.vectors:
            ops.add_vector_gradient("bias", da)
        return dx, (ops.accumulate(dh_before, ops.back("h", da)),)

    def _step_back(self, ops: Ops[V], gates: V, g: V, h_before: V, dh: V) -> Sequence[V]:
        r, z, a_g = ops.split(gates, 1, 1, 1)
        da_z, da_g, dh_before = self._mix_back(ops, z, g, h_before, dh)  # 4, 3
        da_r = ops.sigmoid_back(r, ops.mul(da_g, a_g))  # 2, 1
        return ops.join(da_r, da_z, da_g), ops.join(da_r, da_z, ops.mul(da_g, r)), dh_before

    def _new_back(self, ops: Ops[V], r_and_z: V, g: V, h_before: V, dh: V) -> Sequence[V]:
        r, z = ops.split(r_and_z, 1, 1)
        da_z, da_g, dh_before = self._mix_back(ops, z, g, h_before, dh)  # 4, 3
        return ops.join(r, da_z, da_g), da_g, dh_before  # r holds the place of its gradient

    def _gates_back(self, ops: Ops[V], r_and_z: V, h_before: V, drh: V, dx: V, dh_before: V) -> Sequence[V]:
        (r, _), (_, da_z, da_g) = ops.split(r_and_z, 1, 1), ops.split(dx, 1, 1, 1)
        da_r = ops.sigmoid_back(r, ops.mul(drh, h_before))  # 2, 1
        return ops.join(da_r, da_z, da_g), ops.join(da_r, da_z), ops.add(dh_before, ops.mul(drh, r))

    def _mix_back(self, ops: Ops[V], z: V, g: V, h_before: V, dh: V) -> Sequence[V]:
        old, new = (h_before, g) if self.update == "new" else (g, h_before)
        dnew, dz = ops.mul(dh, z), ops.mul(dh, ops.sub(new, old))  # 4
        dold = ops.sub(dh, dnew)
        dg, dh_before = (dnew, dold) if self.update == "new" else (dold, dnew)
        return ops.sigmoid_back(z, dz), ops.tanh_back(g, dg), dh_before  # 1, 3

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """r, z, and the new value g."""
        r, z = saved[0][..., : 2 * saved[1].shape[-1]].chunk(2, -1)
        return {"r": r, "z": z, "g": saved[1]}

    def kept(self, gates: Mapping[str, Any]) -> Any:
        """Return z or 1 - z (step 4)."""
        return gates["z"] if self.update == "keep" else 1 - gates["z"]
