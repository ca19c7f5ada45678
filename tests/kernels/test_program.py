"""What runs over all steps at once and what loops follows from who reads what, for every program there can be."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.kernels.cells import Lstm
from anaphora.kernels.parts import Activate, Mask, Part, Project, is_previous, previous, signal_of
from anaphora.kernels.program import Program, leading_to, stages
from anaphora.kernels.scores import General

from .exactness import doubles
from .network import Network, probe


def test_what_is_read_one_step_back_is_carried_once_in_order(decoder: Callable) -> None:
    assert decoder(Lstm(), General(), "previous", True, 7).program.carried == ("o", "layer0.h", "layer0.c")


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Projections, activations and masks that read whatever was written before them, or anything one step back."""
    count = draw(st.integers(1, 6))
    signals = [f"s{number}" for number in range(count)]
    parts: list[Part] = []
    for number, target in enumerate(signals):
        readable = ["x", *signals[:number], *map(previous, signals)]
        one = st.sampled_from(readable)
        name = f"p{number}"
        parts.append(
            draw(
                st.one_of(
                    one.map(lambda read, n=name, t=target: Project(n, read, t, True)),
                    st.lists(one, min_size=1, max_size=3, unique=True).map(
                        lambda reads, n=name, t=target: Activate(n, tuple(reads), t)
                    ),
                    one.map(lambda read, n=name, t=target: Mask(n, read, t, "mask")),
                )
            )
        )
    parts.append(Activate("q", ("x", "mask"), "q"))  # so that both are read
    return Program(tuple(parts), (*signals, "q"))


def reachable(program: Program, start: Part) -> set[str]:
    """The names of the parts that ``start`` depends on, at any step."""
    writer = {signal: part for part in program.parts for signal in part.writes}
    found: set[str] = set()
    todo = [start]
    while todo:
        for read in todo.pop().reads:
            source = writer.get(signal_of(read))
            if source is not None and source.name not in found:
                found.add(source.name)
                todo.append(source)
    return found


@given(programs())
def test_every_part_runs_once_and_finds_its_signals_ready(program: Program) -> None:
    order = stages(program)
    assert sorted(part.name for stage in order for part in stage.parts) == [part.name for part in program.parts]
    outside = {"x", "mask"}
    ready = set(outside)
    for stage in order:
        own = {signal for part in stage.parts for signal in part.writes}
        for part in stage.parts:
            assert {read for read in part.reads if not is_previous(read)} <= ready
            assert {signal_of(read) for read in part.reads} <= ready | own
            ready |= set(part.writes)


@given(programs())
def test_parts_loop_together_exactly_when_each_depends_on_the_other(program: Program) -> None:
    for stage in stages(program):
        names = {part.name for part in stage.parts}
        for part in stage.parts:
            reached = reachable(program, part)
            if stage.loops:
                together = {p.name for p in program.parts if p.name in reached and part.name in reachable(program, p)}
                assert together == names
            else:
                assert part.name not in reached
                assert names == {part.name}


def step_by_step(network: Network) -> dict[str, Tensor]:
    """The program read literally: every part at every step in the order in which it stands, by autograd."""
    program, tensors = network.program, network.leaves
    state = network.first(tensors)
    steps, last = [], dict(state)
    for t, x_BX in enumerate(tensors["x"]):
        signals = {"x": x_BX, "mask": network.masks["mask"][t]} | {previous(n): v for n, v in state.items()}
        for part in program.parts:
            values = [signals[read] for read in part.reads]
            if isinstance(part, Project):
                result = values[0] @ tensors[f"{part.name}.weight"].T + tensors[f"{part.name}.bias"]
            elif isinstance(part, Mask):
                result = values[0] * values[1]
            else:
                result = torch.stack(values).sum(0).tanh()
            signals[part.writes[0]] = result
        open_B1 = (t < network.lengths_B).unsqueeze(1)
        state = {name: signals[name] for name in state}
        last = {name: torch.where(open_B1, state[name], last[name]) for name in state}
        steps.append({name: torch.where(open_B1, signals[name], 0) for name in program.returns})
    return {n: torch.stack([s[n] for s in steps]) for n in program.returns} | {f"last {n}": v for n, v in last.items()}


def network_of(program: Program, lengths: list[int]) -> Network:
    """Random tensors of width 2 for four steps of a program."""
    shapes: dict[str, tuple[int, ...]] = {"x": (4, len(lengths), 2)}
    for part in program.parts:
        if isinstance(part, Project):
            shapes |= {f"{part.name}.weight": (2, 2), f"{part.name}.bias": (2,)}
    shapes |= {f"first {name}": (len(lengths), 2) for name in program.carried}
    leaves = {name: doubles(*shape, seed=n).requires_grad_() for n, (name, shape) in enumerate(shapes.items())}
    return Network(program, Lstm(), leaves, torch.tensor(lengths), {"mask": doubles(4, len(lengths), 2, seed=99)}, {})


@settings(max_examples=60)
@given(programs(), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_a_scan_of_any_program_is_that_program_step_by_step(program: Program, lengths: list[int]) -> None:
    network = network_of(program, lengths)
    network.assert_same(network.fast(), step_by_step(network), gradient_atol=1e-9)


@settings(max_examples=40)
@given(programs(), st.data())
def test_gradients_are_the_same_whether_or_not_others_are_wanted(program: Program, data: st.DataObject) -> None:
    network = network_of(program, [3, 2])

    def found(wanted: list[str]) -> dict[str, Tensor]:
        leaves = {name: leaf.detach().requires_grad_(name in wanted) for name, leaf in network.leaves.items()}
        loss = probe(network.fast(**leaves))
        gradients = torch.autograd.grad(loss, [leaves[name] for name in wanted], materialize_grads=True)
        return dict(zip(wanted, gradients, strict=True))

    some = data.draw(st.lists(st.sampled_from([*network.leaves]), min_size=1, unique=True))
    whole = found([*network.leaves])
    for name, gradient in found(some).items():
        assert torch.equal(gradient, whole[name])


def test_what_leads_to_nothing_wanted_is_not_walked_back(decoder: Callable) -> None:
    program = decoder(Lstm(), General(), "previous", False, 7).program
    looping = next(stage for stage in stages(program) if stage.loops)
    readout = {"combine_context.weight", "combine_state.weight"}
    assert looping not in leading_to(program, readout)
    assert {part.name for stage in leading_to(program, readout) for part in stage.parts} >= {
        "combine_context",
        "combine",
    }
    for wanted in ("input0.weight", "layer0.h", "attention.memory", "x", "layer0.c"):
        assert looping in leading_to(program, [wanted]), wanted
    fed = decoder(Lstm(), General(), "previous", True, 7).program
    assert all(stage in leading_to(fed, readout) for stage in stages(fed) if stage.loops)


def project(name: str, source: str, target: str) -> Project:
    return Project(name, source, target, False)


@pytest.mark.parametrize(
    ("parts", "returns", "complaint"),
    [
        ((project("b", "z", "w"), project("c", "x", "z")), ("w",), "'b' reads 'z' before 'c' has written it: reorder"),
        ((Activate("a", ("x", "y"), "y"),), ("y",), "part 'a' reads 'y' before 'a' has written it"),
        ((project("a", "x", "y"), project("b", previous("x"), "z")), ("z",), "reads the previous 'x', but no part"),
        ((project("a", "x", "y"), project("b", "x", "y")), ("y",), r"one part that writes it, but \['y'\] have more"),
        ((project("a", "x", "y"),), ("y", "h"), r"none writes \['h'\]"),
    ],
)
def test_a_program_that_cannot_be_walked_is_refused(parts: Any, returns: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        stages(Program(parts, returns))
