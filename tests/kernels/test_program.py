"""What runs over all steps at once and what loops follows from who reads what, for every program there can be."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.testing import assert_close

from anaphora.errors import ShapeError
from anaphora.kernels.cells import Lstm
from anaphora.kernels.parts import Activate, Mask, Part, Project, is_previous, previous, signal_of
from anaphora.kernels.program import Program, leading_to, stages
from anaphora.kernels.scan import scan
from anaphora.kernels.scores import General


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
    return Program(tuple(parts), tuple(signals))


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


def step_by_step(program: Program, tensors: dict[str, Tensor], lengths_B: Tensor) -> dict[str, Tensor]:
    """The program read literally: every part at every step in the order in which it stands, by autograd."""
    state = {name: tensors[f"first {name}"] for name in program.carried}
    steps, last = [], dict(state)
    for t in range(len(tensors["x"])):
        signals = {"x": tensors["x"][t], "mask": tensors["mask"][t]} | {previous(n): v for n, v in state.items()}
        for part in program.parts:
            values = [signals[read] for read in part.reads]
            if isinstance(part, Project):
                result = values[0] @ tensors[f"{part.name}.weight"].T + tensors[f"{part.name}.bias"]
            elif isinstance(part, Mask):
                result = values[0] * values[1]
            else:
                result = torch.stack(values).sum(0).tanh()
            signals[part.writes[0]] = result
        open_B1 = (t < lengths_B).unsqueeze(1)
        state = {name: signals[name] for name in state}
        last = {name: torch.where(open_B1, state[name], last[name]) for name in state}
        steps.append({name: torch.where(open_B1, signals[name], 0) for name in program.returns})
    return {n: torch.stack([s[n] for s in steps]) for n in program.returns} | {f"last {n}": v for n, v in last.items()}


def tensors_for(program: Program, steps: int, sentences: int, width: int = 2) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes: dict[str, tuple[int, ...]] = {"x": (steps, sentences, width), "mask": (steps, sentences, width)}
    for part in program.parts:
        if isinstance(part, Project):
            shapes |= {f"{part.name}.weight": (width, width), f"{part.name}.bias": (width,)}
    shapes |= {f"first {name}": (sentences, width) for name in program.carried}
    return {n: torch.randn(s, generator=generator, dtype=torch.float64).requires_grad_() for n, s in shapes.items()}


def scanned(program: Program, tensors: dict[str, Tensor], lengths: list[int]) -> dict[str, Tensor]:
    reads = {read for part in program.parts for read in part.reads}
    outputs, state = scan(
        program,
        {name: tensors[name] for name in ("x", "mask") if name in reads},
        {name: tensors[f"first {name}"] for name in program.carried},
        {name: tensor for name, tensor in tensors.items() if "." in name},
        {},
        torch.tensor(lengths),
    )
    return outputs | {f"last {name}": value for name, value in state.items()}


@settings(max_examples=60)
@given(programs(), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_a_scan_of_any_program_is_that_program_step_by_step(program: Program, lengths: list[int]) -> None:
    tensors = tensors_for(program, steps=4, sentences=len(lengths))
    reads = {read for part in program.parts for read in part.reads}
    expected = step_by_step(program, tensors, torch.tensor(lengths))
    if "x" not in reads and "mask" not in reads:
        return
    got = scanned(program, tensors, lengths)
    assert_close(got, expected, rtol=0, atol=1e-10)
    leaves = {name: leaf for name, leaf in tensors.items() if name != "mask"}
    assert_close(gradients(got, leaves), gradients(expected, leaves), rtol=1e-9, atol=1e-9)


@settings(max_examples=40)
@given(programs(), st.data())
def test_gradients_of_some_tensors_are_the_same_whether_or_not_those_of_others_are_wanted(
    program: Program, data: st.DataObject
) -> None:
    tensors, reads = tensors_for(program, 3, 2), {read for part in program.parts for read in part.reads}
    inputs = [name for name in ("x", "mask") if name in reads]
    leaves = [name for name in tensors if name != "mask" and (name in inputs or name != "x")]
    if not inputs or not leaves:
        return

    def found(wanted: set[str]) -> dict[str, Tensor]:
        given = {name: tensor.detach().requires_grad_(name in wanted) for name, tensor in tensors.items()}
        got = scanned(program, given, [3, 2])
        return gradients(got, {name: given[name] for name in sorted(wanted)})

    some = data.draw(st.sets(st.sampled_from(leaves), min_size=1))
    whole = found({*leaves})
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


def gradients(outputs: dict[str, Tensor], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    loss = torch.stack([(outputs[name] * (number + 1)).sin().sum() for number, name in enumerate(sorted(outputs))])
    found = torch.autograd.grad(loss.sum(), leaves.values(), materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def project(name: str, source: str, target: str) -> Project:
    return Project(name, source, target, False)


@pytest.mark.parametrize(
    ("parts", "returns", "complaint"),
    [
        (
            (project("a", "x", "y"), project("b", "z", "w"), project("c", "y", "z")),
            ("w",),
            r"part 'b' reads 'z' before 'c' has written it: reorder them",
        ),
        ((Activate("a", ("x", "y"), "y"),), ("y",), "part 'a' reads 'y' before 'a' has written it"),
        ((project("a", "x", "y"), project("b", previous("x"), "z")), ("z",), "reads the previous 'x', but no part"),
        ((project("a", "x", "y"), project("b", "x", "y")), ("y",), r"one part that writes it, but \['y'\] have more"),
        ((project("a", "x", "y"),), ("y", "h"), r"none writes \['h'\]"),
    ],
)
def test_a_program_that_cannot_be_walked_is_refused(parts: Any, returns: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ShapeError, match=complaint):
        stages(Program(parts, returns))
