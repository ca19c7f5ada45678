"""Reach of gradients: derivatives of states and losses by what stood k steps before.

All come from the derived backward passes, through an observer of the scan. h_t = state of a unit at step t = 1 .. T,
h_0 its initial state; norms of matrices are spectral norms (the largest singular value).

The bound (gamma lambda_1)^k of the simple unit, with gamma the largest slope of its function and lambda_1 the largest
singular value of its matrix: Pascanu, Mikolov and Bengio (2013), section 2.1. The gradients that each step's loss sends
to each step: Cashman et al. (2017), RNNbow.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from anaphora.inspection.labels import labels
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Layer, Recorder, Subject, demand_page, layers_of
from anaphora.kernels.cells import Elman, Lstm
from anaphora.kernels.observer import Gradients
from anaphora.kernels.parts import Unit
from anaphora.kernels.program import stages
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.scan import scan

Numbers = tuple[float, ...]
_TOGETHER = 32
"""Rows of a Jacobian that are found side by side: more of them no longer fit into a processor's cache."""
STEEP = " (h_0 is zero, where layer normalization is steepest)"


@dataclass(frozen=True)
class Bound:
    """The bound of the simple unit, for k = 1 .. T."""

    gamma: float
    """The largest slope of its function."""
    lambda_1: float
    """The largest singular value of its recurrent matrix."""
    radius: float
    """The spectral radius of the matrix: the largest absolute value of an eigenvalue."""
    values: Numbers
    """(gamma lambda_1)^k."""
    radius_values: Numbers
    """(gamma radius)^k, which is no bound."""


@dataclass(frozen=True)
class Reach:
    """Dependence of the last state of a unit on earlier ones; entry k - 1 is that of k steps before, k = 1 .. T.

    The last entry is that of the initial state, which no input was read into.
    """

    unit: str
    cell: str
    steps: tuple[str, ...]
    norms: Numbers
    """|dh_T/dh_{T-k}| along all paths, those through input feeding too; of an LSTM with c_{T-k} held fixed."""
    bound: Bound | None
    """Bound of a simple unit that nothing else feeds back to."""
    direct: Numbers
    """The direct path alone: the largest product of forget gates (LSTM) or of what a GRU keeps; empty for others."""
    memory: Numbers
    """|dc_T/dc_{T-k}| of an LSTM, h_{T-k} following c_{T-k}; empty for others."""
    terms: tuple[Mapping[str, float], ...]
    """Terms of an LSTM, for t = 1 .. T: norms of those of dh_t/dh_{t-1} through o, f, i and g at fixed c_{t-1}, and
    of their "total"."""
    steep_start: bool
    """True if h_0 is zero and its product is layer-normalized: where all values are equal, the normalization divides
    by the square root of its epsilon alone, so that |dh_T/dh_0| is far above the others."""


@dataclass(frozen=True)
class ItemisedGradients:
    """Gradients that the loss of each step sends to each step."""

    layer: str
    steps: tuple[str, ...]
    norms: tuple[Numbers, ...] = field(repr=False)
    """[s][t]: |dL_s/dx_t|, L_s all of the loss that enters the layer at its output of step s; the last row, T + 1,
    is what enters at its last state."""
    total: Numbers
    """|dL/dx_t|."""
    last: Numbers
    """|dL_T/dx_t|, of the last step with a loss."""
    difference: float
    """The greatest absolute difference between the sum of the items and the whole gradient."""


@dataclass(frozen=True)
class GradientFlow(Result):
    """Gradients of a run on one text."""

    run: str
    text: str
    fresh: bool
    """True if the weights are those before training."""
    reach: tuple[Reach, ...]
    itemised: tuple[ItemisedGradients, ...]

    def lines(self) -> Iterator[str]:
        yield f"{self.run}{' before training' if self.fresh else ''}: {self.text}"
        for one in self.reach:
            shown, bound = [k for k in (1, 2, 5, 10, 20, 50) if k <= len(one.norms)], one.bound
            yield f"  {one.unit} ({one.cell}), k steps before the last:"
            rows: dict[str, Sequence[float]] = {"k": range(1, len(one.norms) + 1), "|dh_T/dh_T-k|": one.norms}
            rows |= {f"bound ({bound.gamma:g} x {bound.lambda_1:.3f})^k": bound.values} if bound else {}
            rows |= {"direct path": one.direct, "|dc_T/dc_T-k|": one.memory}
            for name, values in rows.items():
                if values:
                    yield f"    {name:<24}{''.join(f'{values[k - 1]:>10.3g}' for k in shown)}"
            yield f"    initial state: |dh_T/dh_0| {one.norms[-1]:.3g}{STEEP if one.steep_start else ''}"
        for item in self.itemised:
            sent = ", ".join(f"{step} {norm:.1e}" for step, norm in zip(labels(item.steps), item.last, strict=True))
            yield f"  {item.layer}, |dL_T/dx_t|: {sent}"
            yield f"  {item.layer}: items sum to the whole gradient within {item.difference:.1e}"


def gradients(subject: Subject, text: str, target: str | None = None, *, fresh: bool = False) -> GradientFlow:
    """Return the gradients of each recurrent layer on a text, in float64; ``fresh`` with the weights before training.

    Raises ConfigError for a model without recurrent layers, and for a sentence longer than a page.
    """
    example = subject.example(text, target)
    layers = layers_of(subject.fresh() if fresh else subject, example, gradients=True)
    for layer in layers:
        demand_page(layer.steps)
    units = [(layer, unit) for layer in layers for unit in layer.units()]
    return GradientFlow(
        subject.name,
        text,
        fresh,
        # of units whose state the next step reads: of two transitions in one step, the second
        tuple(reach_of(layer, unit) for layer, unit in units if f"{unit.name}.h" in layer.seen.first),
        tuple(itemise(layer) for layer in layers if layer.gradients),
    )


def reach_of(layer: Layer, unit: Unit) -> Reach:
    """Return the dependence of the last state of a unit on its earlier ones."""
    h = f"{unit.name}.h"
    found = jacobians(layer, h)
    norms = _norms(torch.cat([found.signals[h][: layer.size - 1].flip(0), found.first[h].unsqueeze(0)]))
    plain = isinstance(unit.cell, Lstm) and not (unit.normalised or unit.masked or unit.before)
    terms = lstm_terms(layer, unit) if plain else ()
    return Reach(
        f"{layer.name} {unit.name}",
        unit.cell.kind,
        layer.steps,
        norms,
        _bound(layer, unit),
        _direct(layer, unit),
        _memory(layer, unit) if plain else (),
        tuple({name: float(torch.linalg.matrix_norm(one, 2)) for name, one in of_step.items()} for of_step in terms),
        unit.normalised and not layer.seen.first[h].any(),
    )


def jacobians(layer: Layer, signal: str) -> Gradients:
    """Return the derivatives of each number of the last value of a signal: T x H x width by signal."""
    width = layer.signal(signal).shape[1]
    seeds_TNH = torch.zeros(layer.size, -(-width // _TOGETHER) * _TOGETHER, width, dtype=torch.float64)
    seeds_TNH[-1, :width] = torch.eye(width)
    parts = replay(layer, *({signal: rows_TNH} for rows_TNH in torch.split(seeds_TNH, _TOGETHER, dim=1)))

    def joined(tensors: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        return {name: torch.cat([one[name] for one in tensors], -2)[..., :width, :] for name in tensors[0]}

    return Gradients(joined([one.signals for one in parts]), joined([one.first for one in parts]), {}, {})


def replay(layer: Layer, *seeds: Mapping[str, Tensor], inputs_too: bool = False) -> list[Gradients]:
    """Run the layer again, N times side by side, and return its gradients for each of ``seeds``.

    ``seeds``: T x N x width by signal, for the signals that are differentiated. Gradients of the inputs are found with
    ``inputs_too`` alone.
    """
    seen, size = layer.seen, layer.size
    copies = next(iter(seeds[0].values())).shape[1]

    inputs = {
        name: block[:size, :1].detach().repeat_interleave(copies, 1).requires_grad_(inputs_too)
        for name, block in seen.inputs.items()
    }
    first = {name: one[:1].detach().repeat_interleave(copies, 0).requires_grad_() for name, one in seen.first.items()}
    recorder = Recorder()
    with running(replace(Runtime.inference(), kernels="python", observer=recorder)), torch.enable_grad():
        scanned = scan(
            replace(seen.program, returns=tuple(seeds[0])),
            inputs,
            first,
            {name: weight.detach() for name, weight in seen.weights.items()},
            {name: one[:1].detach().repeat_interleave(copies, 0) for name, one in seen.memory.items()},
            torch.full((copies,), size),
        )
        found = list[Gradients]()
        for one in seeds:
            # a scalar: for gradients of other shapes torch first imports a package for symbolic algebra
            total = torch.stack([(scanned.outputs[name] * seed).sum() for name, seed in one.items()]).sum()
            torch.autograd.backward(total, retain_graph=True)
            found += recorder.gradients.values()
    return found


def itemise(layer: Layer) -> ItemisedGradients:
    """Return what the loss that enters a layer at each step sends to each step of its input."""
    assert layer.gradients
    size, source = layer.size, next(iter(layer.seen.inputs))
    given, last = layer.gradients.outputs, layer.gradients.last
    seeds = {}
    for name, block_TBW in given.items():
        items_TNW = block_TBW.new_zeros(size, size + 1, block_TBW.shape[2])
        items_TNW[range(size), range(size)] = block_TBW[:size, 0]
        seeds[name] = items_TNW
    for name, row_BW in last.items():
        seeds.setdefault(name, row_BW.new_zeros(size, size + 1, row_BW.shape[1]))
        seeds[name][-1, -1] += row_BW[0]
    [items] = replay(layer, seeds, inputs_too=True)
    dx_TNW = items.signals[source]
    whole_TW = layer.gradients.signals[source][:size, 0]
    norms_NT = dx_TNW.norm(dim=2).T
    with_loss = [row for row in range(size) if any(block[row, 0].any() for block in given.values())]
    return ItemisedGradients(
        layer.name,
        layer.steps,
        tuple(tuple(row) for row in norms_NT.tolist()),
        tuple(whole_TW.norm(dim=1).tolist()),
        tuple(norms_NT[with_loss[-1] if with_loss else -1].tolist()),
        float((dx_TNW.sum(1) - whole_TW).abs().max()),
    )


def lstm_terms(layer: Layer, unit: Unit) -> Iterator[dict[str, Tensor]]:
    """Yield for each step the terms (H x H) of dh_t/dh_{t-1} at fixed c_{t-1}, through each gate, and their total.

    With m = tanh(c_t), o: diag(m o (1 - o)) W_o;  f: diag(o (1 - m^2) c_{t-1} f (1 - f)) W_f;
    i: diag(o (1 - m^2) g i (1 - i)) W_i;  g: diag(o (1 - m^2) i (1 - g^2)) W_g.
    """
    gates, c_TH = layer.gates(unit), layer.signal(f"{unit.name}.c")
    i, f, g, o = (gates[gate] for gate in "ifgo")
    before_TH = torch.cat([layer.seen.first[f"{unit.name}.c"][:1], c_TH[:-1]]).detach()
    m = torch.tanh(c_TH)
    through_c = o * (1 - m * m)
    scales = {
        "o": m * o * (1 - o),
        "f": through_c * before_TH * f * (1 - f),
        "i": through_c * g * i * (1 - i),
        "g": through_c * i * (1 - g * g),
    }
    blocks = dict(zip(unit.cell.blocks, layer.seen.weights[f"{unit.name}.h"].detach().chunk(4), strict=True))
    for step in range(layer.size):
        terms = {gate: scale_TH[step].unsqueeze(1) * blocks[gate] for gate, scale_TH in scales.items()}
        yield terms | {"total": torch.stack(list(terms.values())).sum(0)}


def _memory(layer: Layer, unit: Unit) -> Numbers:
    """Return |dc_T/dc_{T-k}|: what was carried as c, and what came through h = o tanh(c)."""
    h, c, size = f"{unit.name}.h", f"{unit.name}.c", layer.size
    found = jacobians(layer, c)
    o_TH, m_TH = layer.gates(unit)["o"], torch.tanh(layer.signal(c))
    through_h_TH = o_TH * (1 - m_TH * m_TH)
    matrices_THH = found.signals[c] + found.signals[h] * through_h_TH.unsqueeze(1)
    # h_0 is given, and does not follow c_0
    return _norms(torch.cat([matrices_THH[: size - 1].flip(0), found.first[c].unsqueeze(0)]))


def _direct(layer: Layer, unit: Unit) -> Numbers:
    """Return the greatest product, over the cells, of what each keeps of its state in the last k steps."""
    kept_TH = unit.cell.kept(layer.gates(unit))
    return () if kept_TH is None or unit.before else tuple(kept_TH.flip(0).cumprod(0).amax(1).tolist())


def _bound(layer: Layer, unit: Unit) -> Bound | None:
    alone = any(stage.parts == (unit,) for stage in stages(layer.seen.program))
    if not isinstance(unit.cell, Elman) or not alone or unit.normalised or unit.masked:
        return None
    matrix = layer.seen.weights[f"{unit.name}.h"].detach()
    gamma = 0.25 if unit.cell.activation == "sigmoid" else 1.0
    lambda_1 = float(torch.linalg.matrix_norm(matrix, 2))
    radius = float(torch.linalg.eigvals(matrix).abs().max())
    powers = range(1, layer.size + 1)
    values, radius_values = (tuple((gamma * size) ** k for k in powers) for size in (lambda_1, radius))
    return Bound(gamma, lambda_1, radius, values, radius_values)


def _norms(matrices_THH: Tensor) -> Numbers:
    return tuple(torch.linalg.matrix_norm(matrices_THH, 2).tolist())
