"""Looping stages in C: the mathematics of the loop in Python, whatever the sizes; a row has bits of its own."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import Mock, patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import Parameter
from torch.testing import assert_close

from anaphora.kernels import native, native_gradient
from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.cells.light import MinGru, MinLstm, Qrnn, Sru, Ssru
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.loop import has_loop
from anaphora.kernels.lowering import Lowering
from anaphora.kernels.normalizers import Softmax
from anaphora.kernels.prepared import with_prepared_weights
from anaphora.kernels.program import stages
from anaphora.kernels.runtime import Runtime, running
from anaphora.kernels.scores import Concat, General, Hybrid, Location, Score
from anaphora.kernels.spans import LocalMonotonic, LocalPredictive
from anaphora.nn.attention import WindowAttention
from tests.runtimes import threads

from .conftest import DROPPED, SCORES, VARIATIONAL, shown
from .exactness import assert_same_bits

pytestmark = pytest.mark.skipif(
    not has_loop() or not torch.cpu.get_capabilities()["avx2"],
    reason="the library was not built, or the processor lacks AVX2",
)

NATIVE = [score for score in SCORES if not isinstance(score, Location)]
WAYS: list[dict[str, Any]] = [
    {},
    {"window": LocalPredictive(radius=2)},
    {"window": LocalMonotonic(radius=1)},
    {"gate": True},
    {"normalizer": Softmax(sharpness=2.0), "window": LocalPredictive(radius=1), "gate": True},
]
Looking = Score | WindowAttention
LOOKING: list[Looking] = [
    *(Concat(), Concat(coverage=True), Hybrid(filters=3, radius=2)),
    WindowAttention(kind="gaussian-window", components=3),
]
OPTIONS = [{}, {"dropout": VARIATIONAL}, {"layer_norm": True}, {"dropout": DROPPED, "residual": True}]
TRAINING = Runtime(backend="gemm", training=True)
PYTHON = replace(TRAINING, kernels="python")

lengths = st.lists(st.integers(1, 6), min_size=1, max_size=9).map(tuple)
widths = st.integers(6, 40)
with_fixtures = settings(max_examples=4)


def single(network: Any) -> Any:
    """The same network in single precision, with gradients."""
    network = network.to(torch.float32)
    return replace(network, leaves={name: leaf.requires_grad_() for name, leaf in network.leaves.items()})


@contextmanager
def counted() -> Iterator[list[tuple[Any, ...]]]:
    """The parts of each stage that runs in C within it."""
    found: list[tuple[Any, ...]] = []

    def counting(original: Callable[..., Any]) -> Callable[..., Any]:
        def forward(stage: Any, *rest: Any) -> Any:
            found.append(stage.parts)
            return original(stage, *rest)

        return forward

    with (
        patch.object(native, "forward", counting(native.forward)),
        patch.object(native_gradient, "forward", counting(native_gradient.forward)),
    ):
        yield found


def computed(network: Any, runtime: Runtime) -> dict[str, Tensor]:
    """Outputs, state and gradients."""
    with running(runtime):
        outputs = network.fast()
        return outputs | {f"d {name}": gradient for name, gradient in network.gradients(outputs).items()}


def computed_by_threads(network: Any) -> dict[str, Tensor]:
    """The same in C, with the same bits by one thread and by two."""
    found = []
    for count in (1, 2):
        with threads(count):
            found.append(computed(network, TRAINING))
    assert_same_bits(*found)
    return found[0]


def assert_same_in_c(network: Any, tolerance: float = 1e-4) -> None:
    """Every looping stage runs in C, and gives what it gives in Python; what sums round grows with their terms."""
    with counted() as in_c:
        fast = computed(network := single(network), TRAINING)
    assert in_c == [stage.parts for stage in stages(network.program) if stage.loops]
    for name, in_python in computed(network, PYTHON).items():
        rounding = max(tolerance, 5e-5 * float(in_python.detach().abs().max()))
        assert_close(
            fast[name], in_python, rtol=tolerance, atol=rounding, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.matrix
@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "variational", "normalised", "dropped-residual"])
@with_fixtures
@given(hidden=widths, lengths=lengths)
def test_a_stack_gives_what_the_loop_in_python_gives(
    cell: Cell, options: dict[str, Any], hidden: int, lengths: tuple[int, ...], layers: Callable
) -> None:
    tolerance = 1e-3 if "layer_norm" in options else 1e-4  # it magnifies what was rounded
    assert_same_in_c(layers(cell, hidden, height=2, lengths=lengths, **options), tolerance)


def test_what_an_update_held_goes_without_a_collection(layers: Callable) -> None:
    gc.collect()
    gc.disable()
    try:
        computed(single(layers(Lstm(), 8, height=2, lengths=(3, 2))), TRAINING)
        assert not [one for one in gc.get_objects() if isinstance(one, Lowering)]
    finally:
        gc.enable()


def test_a_unit_of_one_number_gives_what_it_gives_in_python(cell: Cell, layers: Callable) -> None:
    assert_same_in_c(layers(cell, 1))


@pytest.mark.matrix
@pytest.mark.parametrize("score", NATIVE, ids=shown)
@pytest.mark.parametrize("cell", [Lstm(), Gru(), Gru(reset="before")], ids=str)
@with_fixtures
@given(hidden=widths, lengths=lengths, options=st.sampled_from(WAYS), data=st.data())
def test_a_decoder_gives_what_the_loop_in_python_gives(
    cell: Cell,
    score: Score,
    query: str,
    feeding: bool,
    hidden: int,
    lengths: tuple[int, ...],
    options: dict[str, Any],
    data: st.DataObject,
    decoder: Callable,
) -> None:
    positions = data.draw(st.lists(st.integers(1, 7), min_size=len(lengths), max_size=len(lengths)).map(tuple))
    assert_same_in_c(decoder(cell, score, query, feeding, hidden, lengths, positions, **options))


@with_fixtures
@given(components=st.integers(1, 20), lengths=lengths, data=st.data())
def test_a_gaussian_window_gives_what_the_loop_in_python_gives(
    query: str, components: int, lengths: tuple[int, ...], data: st.DataObject, decoder: Callable
) -> None:
    positions = data.draw(st.lists(st.integers(1, 40), min_size=len(lengths), max_size=len(lengths)).map(tuple))
    window = WindowAttention(kind="gaussian-window", components=components)
    network = decoder(Lstm(), window, query, True, 9, lengths, positions)
    exponents = {name: 0.2 * leaf for name, leaf in network.leaves.items() if name.startswith("window.")}
    assert_same_in_c(replace(network, leaves={n: t.detach() for n, t in (network.leaves | exponents).items()}))


@pytest.mark.skipif(not has_gemm("bf16"), reason="the processor lacks bf16")
@pytest.mark.parametrize(
    ("cell", "attention"),
    [(Gru(), Concat()), (Gru(reset="before"), Concat()), *((Lstm(), attention) for attention in LOOKING)],
    ids=str,
)
def test_a_decoder_in_bf16_gives_what_the_loop_in_python_gives(
    cell: Cell, attention: Looking, query: str, decoder: Callable
) -> None:
    network = single(decoder(cell, attention, query, True, 40, (5, 3, 6, 2), (6, 2, 4, 5)))
    in_bf16 = replace(TRAINING, backend="gemm-bf16")
    with counted() as in_c:
        fast = computed(network, in_bf16)
    assert in_c
    with patch.object(native, "is_native", lambda stage: False):
        plain = computed(network, in_bf16)
    exact = computed(network, TRAINING)
    for name, found in fast.items():
        scale = exact[name].abs().max()
        assert (found - plain[name]).abs().max() <= 2e-2 * scale  # sums that round to either side
        assert not torch.equal(found, exact[name]) or not scale


def test_one_part_without_a_native_body_leaves_its_whole_stage_to_python(decoder: Callable, layers: Callable) -> None:
    network = single(decoder(Lstm(), Location(), "previous", True, 7))
    with counted() as in_c:
        fast = computed(network, TRAINING)
    assert not in_c
    assert_close(fast, computed(network, PYTHON), rtol=1e-4, atol=1e-4)
    unfed = single(decoder(Lstm(), Location(), "current", False, 7))  # nothing of attention is in the loop
    with counted() as in_c:
        computed(unfed, TRAINING)
    assert [[part.name for part in parts] for parts in in_c] == [["layer0"]]


@pytest.mark.parametrize("cell", [Ssru(), Sru(), Qrnn(), MinGru(), MinLstm()], ids=str)
def test_no_product_is_in_the_loop_of_a_light_decoder_without_feeding(cell: Cell, decoder: Callable) -> None:
    network = single(decoder(cell, General(), "current", False, 7))
    with counted() as in_c, patch.object(Lowering, "multiply", side_effect=AssertionError("a product in the loop")):
        computed(network, TRAINING)
    assert [[part.name for part in parts] for parts in in_c] == [["layer0"]]


def test_shared_gates_are_numbers_however_far_they_are_shut(layers: Callable) -> None:
    network = layers(MinLstm(), 7)
    shut = network.leaves["input0.bias"].detach() - 500
    found = computed(single(replace(network, leaves=network.leaves | {"input0.bias": shut})), TRAINING)
    assert all(value.isfinite().all() for value in found.values())


def test_double_precision_observers_other_kernels_and_other_backends_stay_in_python(layers: Callable) -> None:
    network, observer = layers(Lstm(), 7), Mock()
    with counted() as in_c:
        computed(network, TRAINING)
        for other in ({"kernels": "python"}, {"kernels": "naive"}, {"backend": "torch"}, {"observer": observer}):
            computed(single(network), replace(TRAINING, **other))
    assert not in_c and "layer0.c" in observer.forward.call_args.args[0].signals


@pytest.mark.parametrize("attention", LOOKING[1:3], ids=str)
def test_any_number_of_threads_gives_the_same_bits(attention: Looking, decoder: Callable) -> None:
    sizes = (5, 3, 5, 2, 1), (6, 2, 4, 5, 1)
    computed_by_threads(single(decoder(Gru(reset="before"), attention, "previous", True, 180, *sizes)))


def test_many_sentences_take_their_steps_in_groups(decoder: Callable) -> None:
    """More than eight groups, so that two threads have them, too."""
    lengths = tuple(1 + 5 * number % 3 for number in range(400))
    network = single(decoder(Gru(), Concat(), "previous", True, 32, lengths, lengths))
    found = computed_by_threads(network)
    assert_close(found, computed(network, PYTHON), rtol=1e-4, atol=1e-3)
    for row in (0, 44, 45, 200, 399):
        alone = computed(network.sentences(torch.tensor([row])), TRAINING)
        assert torch.equal(alone["o"][:, 0], found["o"][: len(alone["o"]), row])


@pytest.mark.parametrize("attention", LOOKING, ids=str)
def test_the_width_of_a_memory_changes_no_bit(attention: Looking, query: str, decoder: Callable) -> None:
    network = single(decoder(Gru(), attention, query, True, 19, (5, 3, 6), (6, 2, 20)))
    wide = computed(network, TRAINING)
    for row in range(2):
        own = network.sentences(torch.tensor([row]))
        last = int(own.positions_B)
        for name in {"memory", "first weights", "first coverage"} & {*own.leaves}:
            own.leaves[name] = own.leaves[name][:, :last].detach().requires_grad_()
        narrow = computed(own, TRAINING)
        assert torch.equal(narrow["o"][:, 0], wide["o"][: len(narrow["o"]), row])


@pytest.mark.parametrize("lengths", [(5, 3, 6, 2), (1, 1, 1, 1)])
def test_a_list_serves_sentences_of_the_same_lengths(lengths: tuple[int, ...], query: str, decoder: Callable) -> None:
    network = single(decoder(Gru(), General(), query, True, 19, lengths, (6, 2, 4, 5)))
    network.leaves.update({name: Parameter(tensor.detach()) for name, tensor in network.leaves.items()})
    owned = with_prepared_weights(Runtime(backend="gemm"))
    for _ in range(3):
        with running(TRAINING):
            expected = network.fast()
        with counted() as in_c, running(owned), torch.no_grad():
            assert_same_bits(network.fast(), {name: block.detach() for name, block in expected.items()})
            assert in_c
            for name in ("x", "memory"):
                network.leaves[name].neg_()
            for name in network.first(network.leaves):
                network.leaves[f"first {name}"].neg_()


@pytest.mark.parametrize("attention", LOOKING, ids=str)
def test_padding_full_of_nan_changes_nothing(attention: Looking, query: str, decoder: Callable) -> None:
    network = single(decoder(Lstm(), attention, query, True, 7))
    past_BS = torch.arange(3) >= network.positions_B.unsqueeze(1)
    with running(TRAINING):
        expected = network.fast()
        assert_same_bits(network.poisoned().fast(), expected)
        # nor does what lies past the end of a memory
        memory = network.leaves["memory"].detach().masked_fill(past_BS.unsqueeze(-1), 1e30)
        assert_close(network.fast(memory=memory)["o"], expected["o"], rtol=0, atol=0)


@pytest.mark.parametrize("output", ["o", "weights", "last o", "last layer0.h"])
def test_one_output_alone_has_its_whole_gradient(output: str, query: str, decoder: Callable) -> None:
    network = single(decoder(Gru(), General(), query, True, 7))
    found = []
    for runtime in (TRAINING, PYTHON):
        with running(runtime):
            loss, leaves, kept = network.fast()[output].sin().sum(), network.leaves.values(), {"retain_graph": True}
            once, twice = (torch.autograd.grad(loss, leaves, materialize_grads=True, **kept) for _ in range(2))
        assert_same_bits(once, twice)
        found.append(once)
    assert_close(*found, rtol=1e-4, atol=1e-4)
