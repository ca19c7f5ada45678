"""Light units: no matrix is in the loop, so a step is number by number, and products are made over all steps at once.

1  f   = sigm(x_f + v_f * c_{t-1})           v_f: where the gates see the memory, number by number
   f   = s_f / (s_f + s_i), s = sigm(x)      with a gate i beside f; of what is new, 1 - f = s_i / (s_f + s_i)
2  g   = x_g, or tanh(x_g)
3  c_t = f * c_{t-1} + (1 - f) * g
4  o   = sigm(x_o + v_o * c_{t-1})           where there is an output gate
5  h_t = c_t                                 min-gru, min-lstm, which carry h alone
         relu(c_t)                           ssru
         o * c_t                             qrnn
         o * c_t + (1 - o) * x_x             sru: the highway, past the unit

    ssru      f of x, g of x                           Kim et al. 2019, section 3.1
    sru       f and o see c_{t-1}, highway             Lei et al. 2018, section 3.1
    qrnn      g = tanh, o; x of two steps              Bradbury et al. 2017, section 2.1 ("fo-pooling")
    min-gru   as ssru without relu                     Feng et al. 2024, section 3.1; its z is 1 - f
    min-lstm  f beside i                               Feng et al. 2024, section 3.2

A unit of other switches is a subclass of ``Light`` with other class variables.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from anaphora.kernels.cells.cell import LSTM_GATES, Forgetting
from anaphora.kernels.ops import Ops, V


class Light(Forgetting):
    """The equations above with the blocks of ``letters``: g and f, i for a gate beside f, o, x for the highway.

    ``state`` has the memory c where the output is not c: without an output gate it is relu(c). ``vectors`` are the v of
    f and o, where they see the memory.
    """

    letters: ClassVar[str] = "gf"
    candidate_tanh: ClassVar[bool] = False
    """True if g is tanh(x_g), and not x_g."""

    gate_names = LSTM_GATES
    candidate: ClassVar[str] = "g"
    matmuls: ClassVar[tuple[tuple[str, str], ...]] = ()

    @property
    def blocks(self) -> str:
        """The letters; in capitals, what x adds to them at the next step, where that is carried."""
        return self.letters + "".join(field[-1].upper() for field in self.state[2:])

    @property
    def history(self) -> tuple[str, ...]:
        """All but an output that is not the memory."""
        return self.state[1:] or self.state

    def forward(self, ops: Ops[V], x: V, state: Sequence[V]) -> tuple[tuple[V, ...], tuple[Any, ...]]:
        """Steps 1 to 5."""
        c_before, blocks = state[:2][-1], ops.split(x, *(1 for _ in self.blocks))
        of = dict(zip(self.letters, blocks, strict=False))
        of |= {letter: ops.add(of[letter], far) for letter, far in zip(self.letters, state[2:], strict=False)}
        given = [of[letter] for letter in "fi" if letter in of]
        for gate, vector in zip("fo", self.vectors, strict=False):
            of[gate] = ops.add(of[gate], ops.mul(c_before, ops.vector(vector)))
        if "i" in of:
            (of["f"],) = ops.fuse("share_gates", self._share, given, (ops.width(c_before),))  # 1
        else:
            of["f"] = ops.sigmoid(of["f"])  # 1
        of["g"] = ops.tanh(of["g"]) if self.candidate_tanh else of["g"]  # 2
        moved = ops.sub(c_before, of["g"])
        c = ops.add(of["g"], ops.mul(of["f"], moved))  # 3
        if "o" in of:
            of["o"] = ops.sigmoid(of["o"])  # 4
            passed = ops.sub(c, of["x"]) if "x" in of else c
            h = ops.mul(of["o"], passed)  # 5
            h = ops.add(h, of["x"]) if "x" in of else h
        else:
            h = passed = ops.relu(c) if len(state) > 1 else c  # 5
        new = (h, c)[: len(self.state)]  # alone where they are one
        return (*new, *blocks[len(self.letters) :]), (of, given, c_before, moved, passed)

    def _share(self, ops: Ops[V], a_f: V, a_i: V) -> Sequence[V]:
        return [ops.sigmoid(ops.sub(ops.log_sigmoid(a_f), ops.log_sigmoid(a_i)))]  # 1, finite for any gates

    def backward(self, ops: Ops[V], saved: tuple[Any, ...], dstate: Sequence[V]) -> tuple[V, tuple[V | None, ...]]:
        """Steps 5 to 1 undone; section 21 of the derivation in ``kernels/README.md``."""
        (of, given, c_before, moved, passed), dh, dc, d = saved, dstate[0], dstate[:2][-1], dict[str, V]()
        if "o" in of:
            dpassed = ops.mul(dh, of["o"])  # 5
            dc = ops.add(dc, dpassed)
            d["o"] = ops.sigmoid_back(of["o"], ops.mul(dh, passed))  # 4
            d |= {"x": ops.sub(dh, dpassed)} if "x" in of else {}
        elif len(dstate) > 1:
            dc = ops.add(dc, ops.relu_back(passed, dh))  # 5
        df, dc_before = ops.mul(dc, moved), ops.mul(dc, of["f"])  # 3
        dg = ops.sub(dc, dc_before)
        d["g"] = ops.tanh_back(of["g"], dg) if self.candidate_tanh else dg  # 2
        if "i" in of:
            read, widths = (of["f"], *given, df), (ops.width(df), ops.width(df))
            d["f"], d["i"] = ops.fuse("share_gates_back", self._share_back, read, widths)  # 1
        else:
            d["f"] = ops.sigmoid_back(of["f"], df)  # 1
        for gate, vector in zip("fo", self.vectors, strict=False):
            ops.add_vector_gradient(vector, ops.mul(d[gate], c_before))
            dc_before = ops.add(dc_before, ops.mul(d[gate], ops.vector(vector)))
        dx = [d[letter] for letter in self.letters]
        dbefore = (None, dc_before, *dx)[: len(self.state)] if len(self.state) > 1 else (dc_before,)
        return ops.join(*dx, *dstate[2:]), dbefore

    def _share_back(self, ops: Ops[V], f: V, a_f: V, a_i: V, df: V) -> Sequence[V]:
        da = ops.sigmoid_back(f, df)
        da_f, da_i = (ops.log_sigmoid_back(ops.log_sigmoid(a), da) for a in (a_f, a_i))
        return da_f, ops.scale(da_i, -1)

    def gates_of(self, saved: tuple[Any, ...]) -> dict[str, Any]:
        """f as step 3 uses it, g, and o where there is one."""
        return {letter: saved[0][letter] for letter in "fgo" if letter in self.letters}


class Ssru(Light):
    """The simpler simple recurrent unit (Kim et al. 2019): one gate, and relu."""

    kind: Literal["ssru"] = "ssru"

    state: ClassVar[tuple[str, ...]] = ("h", "c")


class Sru(Light):
    """The simple recurrent unit (Lei et al. 2018). Its highway takes a projection of x."""

    kind: Literal["sru"] = "sru"

    letters: ClassVar[str] = "gfox"
    state: ClassVar[tuple[str, ...]] = ("h", "c")
    vectors: ClassVar[tuple[str, ...]] = ("v_f", "v_o")


class MinGru(Light):
    """The minimal GRU (Feng et al. 2024)."""

    kind: Literal["min-gru"] = "min-gru"


class MinLstm(Light):
    """The minimal LSTM (Feng et al. 2024), whose two gates are normalised."""

    kind: Literal["min-lstm"] = "min-lstm"

    letters: ClassVar[str] = "gfi"


class Qrnn(Light):
    """The quasi-recurrent unit (Bradbury et al. 2017), with a filter over one step or two.

    The products of a step with both columns of a filter are made at once; what is for the next step is carried. Before
    the first step that is 0, as with the masked convolution of the paper, or what the state starts from.
    """

    kind: Literal["qrnn"] = "qrnn"
    width: Literal[1, 2] = 2
    """Steps whose inputs a gate sees: this one, or the one before as well."""

    letters: ClassVar[str] = "gfo"
    candidate_tanh: ClassVar[bool] = True

    @property
    def state(self) -> tuple[str, ...]:
        """Carried signals; with width 2 also what x adds to each block at the next step."""
        return ("h", "c") if self.width == 1 else ("h", "c", *(f"x_{letter}" for letter in self.letters))


AnyLight = Ssru | Sru | Qrnn | MinGru | MinLstm
