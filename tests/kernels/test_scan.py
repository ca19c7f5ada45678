"""Whole decoders and stacks through the one loop over time: exact gradients, and one step at a time the same bits."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.scan import advance
from anaphora.kernels.scores import Concat, Dot, General
from anaphora.kernels.tensor_rows import TensorRows
from anaphora.nn.attention import AttentionConfig
from tests.runtimes import threads

from .conftest import CELLS, DROPPED, EACH_FORM, FORMS, NORMALIZERS, SCORES, SPANS, Form, shown
from .exactness import assert_same_bits, drawn

PARTS = [*((cell, AttentionConfig()) for cell in CELLS), *((Gru(), form) for form in FORMS)]
EACH_PART = pytest.mark.parametrize(("unit", "form"), PARTS, ids=shown)
"""Every unit, and every kind of attention."""
PRODUCT = [
    AttentionConfig(score=score, window=span, normalizer=normalizer)
    for score, span, normalizer in product(SCORES, SPANS, NORMALIZERS)
]


@EACH_PART
def test_a_decoder_is_its_naive_reading(unit: Cell, form: Form, query: str, feeding: bool, decoder: Callable) -> None:
    decoder(unit, form, query, feeding, 7).assert_naive()


@pytest.mark.matrix
@EACH_PART
def test_gradients_are_those_of_finite_differences(unit: Cell, form: Form, query: str, decoder: Callable) -> None:
    assert decoder(unit, form, query, True, 7, lengths=(1, 2), positions=(3, 2)).exact(fast_mode=True)


@pytest.mark.slow
@EACH_PART
def test_every_decoder_is_exact(unit: Cell, form: Form, query: str, feeding: bool, decoder: Callable) -> None:
    for hidden in (1, 63):
        decoder(unit, form, query, feeding, hidden).assert_naive()
    assert decoder(unit, form, query, feeding, 1, lengths=(1, 2), positions=(3, 2)).exact()
    assert decoder(unit, form, query, feeding, 63).exact(fast_mode=True)


@pytest.mark.slow
@pytest.mark.parametrize("form", PRODUCT, ids=shown)
def test_every_score_span_and_normalizer_together_are_exact(form: Form, decoder: Callable) -> None:
    network = decoder(Gru(), form, "previous", True, 7)
    network.assert_naive()
    assert network.exact(fast_mode=True)


@EACH_FORM
def test_numbers_of_thousands_still_give_finite_weights_and_gradients(form: Form, decoder: Callable) -> None:
    network = decoder(Gru(), form, "current", True, 7)
    large = {name: (leaf.detach() * 1e3).requires_grad_() for name, leaf in network.leaves.items()}
    network = replace(network, leaves=large)
    outputs = network.fast()
    assert all(value.isfinite().all() for value in (*outputs.values(), *network.gradients(outputs).values()))


@EACH_FORM
def test_padding_full_of_nan_changes_nothing(form: Form, query: str, feeding: bool, decoder: Callable) -> None:
    network = decoder(Gru(), form, query, feeding, 7)
    poisoned = network.poisoned()
    poisoned.assert_same(poisoned.fast(), network.fast(), atol=0, gradient_atol=0, of=network)


def test_steps_behind_the_longest_sentence_change_nothing(query: str, decoder: Callable) -> None:
    network = decoder(Lstm(), General(), query, True, 7)
    longer = replace(
        network,
        leaves=network.leaves | {"x": torch.cat([network.leaves["x"].detach(), torch.full((2, 3, 5), torch.nan)])},
        masks={name: torch.cat([mask, mask[:2]]) for name, mask in network.masks.items()},
    )
    expected, got = network.fast(), longer.fast()
    for name in ("o", "weights"):
        assert got[name][4:].count_nonzero() == 0
        got[name] = got[name][:4]
    assert_close(got, expected, rtol=0, atol=0)


@pytest.mark.parametrize("changed", ["layer0.h", "input0.weight", "x", "memory", "first o"])
def test_a_tensor_changed_between_forward_and_backward_is_refused(changed: str, decoder: Callable) -> None:
    network = decoder(Lstm(), General(), "current", True, 7, lengths=(4, 4, 4))
    outputs = network.fast()
    with torch.no_grad():
        network.leaves[changed].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        network.gradients(outputs)


def test_autocast_around_a_scan_changes_nothing(decoder: Callable) -> None:
    network = decoder(Lstm(), Dot(), "current", True, 8)
    network = replace(network, leaves={n: t.detach().float().requires_grad_() for n, t in network.leaves.items()})
    network = replace(network, masks={name: mask.float() for name, mask in network.masks.items()})
    outputs = network.fast()
    gradients = network.gradients(outputs)
    with torch.autocast("cpu", torch.bfloat16):
        inside = network.fast()
        inside_gradients = network.gradients(inside)
    assert_close(inside, outputs, rtol=0, atol=0)
    assert_close(inside_gradients, gradients, rtol=0, atol=0)


@pytest.mark.matrix
@pytest.mark.parametrize("lengths", [(4, 4, 4), (4, 3, 1), (2, 4, 1)], ids=["full", "sorted", "unsorted"])
def test_lengths_on_the_processor_suit_any_device(cell: Cell, lengths: tuple[int, ...], layers: Callable) -> None:
    network = layers(cell, 7, lengths=lengths, dropout=DROPPED)
    elsewhere = replace(
        network,
        leaves={name: leaf.detach().to("meta").requires_grad_() for name, leaf in network.leaves.items()},
        masks={name: mask.to("meta") for name, mask in network.masks.items()},
    )
    outputs = elsewhere.fast()
    gradients = torch.autograd.grad([value.sum() for value in outputs.values()], elsewhere.leaves.values())
    for name, value in outputs.items():
        assert value.is_meta and value.shape == network.fast()[name].shape
    assert all(gradient.is_meta for gradient in gradients)


@pytest.mark.parametrize("lengths", [[3, 3], [4]])
def test_a_batch_without_padding_is_not_copied_on_its_way_in(lengths: list[int]) -> None:
    steps, sentences = max(lengths), len(lengths)
    rows, block = TensorRows(torch.tensor(lengths), steps, torch.device("cpu")), torch.rand(steps, sentences, 2)
    assert rows.of_batch(block).data_ptr() == block.data_ptr()
    assert rows.to_batch(rows.of_batch(block)).data_ptr() != block.data_ptr()


UNITS = pytest.mark.parametrize("unit", [Lstm(), Gru(), Gru(reset="before")], ids=["lstm", "gru-after", "gru-before"])
HIDDEN = pytest.mark.parametrize("hidden", [20, 33])
"""Widths in single precision, the precision of search, where the bits of a row depend on that row alone.

They start at 17: in products with a sentence's memory less than 12 wide the bits depend on where a row stands (measured
with MKL).
"""


def step_by_step(network: Any) -> dict[str, Tensor]:
    """What ``scan`` gives, by ``advance``, for sentences that are all equally long."""
    state, steps = {n: t.unsqueeze(0) for n, t in network.first(network.leaves).items()}, []
    weights, memory = network.weights(network.leaves), network.memory(network.leaves)
    for t in range(len(network.leaves["x"])):
        inputs = {"x": network.leaves["x"][t : t + 1]} | {n: m[t : t + 1] for n, m in network.masks.items()}
        signals = advance(network.program, inputs, state, weights, memory)
        state = {name: signals[name] for name in state}
        steps.append(signals)
    outputs = {name: torch.cat([step[name] for step in steps]) for name in network.program.returns}
    return outputs | {f"last {name}": value[0] for name, value in state.items()}


@pytest.mark.matrix
@torch.no_grad()
@UNITS
@HIDDEN
@EACH_FORM
def test_step_by_step_gives_the_bits_of_a_scan(
    unit: Any, form: Form, query: str, feeding: bool, hidden: int, decoder: Callable
) -> None:
    network = decoder(unit, form, query, feeding, hidden, lengths=(5,) * 5, positions=(4, 16, 2, 9, 7))
    network = network.to(torch.float32)
    assert_same_bits(step_by_step(network), network.fast())


@pytest.mark.matrix
@torch.no_grad()
@UNITS
@HIDDEN
@EACH_FORM
def test_a_sentence_has_the_same_bits_alone_and_among_others(
    unit: Any, form: Form, query: str, feeding: bool, hidden: int, decoder: Callable
) -> None:
    sizes = (5, 2, 7, 1, 9, 3, 9, 4, 8, 5, 6), (4, 16, 2, 9, 7) * 2 + (3,)
    decoder(unit, form, query, feeding, hidden, *sizes).to(torch.float32).assert_same_bits_alone()


@pytest.mark.matrix
@torch.no_grad()
@UNITS
@HIDDEN
@EACH_FORM
@pytest.mark.parametrize("count", [1, 2])
def test_hypotheses_side_by_side_have_the_bits_of_each_alone(
    unit: Any, form: Form, query: str, hidden: int, count: int, decoder: Callable
) -> None:
    network = decoder(unit, form, query, True, hidden, lengths=(1,) * 3, positions=(4, 16, 2)).to(torch.float32)
    weights, memory = network.weights(network.leaves), network.memory(network.leaves)

    def of_each(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: drawn(5, 3, t.shape[-1], seed=n) for n, (name, t) in enumerate(tensors.items())}

    inputs = of_each({"x": network.leaves["x"]} | network.masks)
    state = of_each(network.first(network.leaves))
    open_BS = torch.arange(16) < network.positions_B.unsqueeze(1)
    of_attention = {name: drawn(5, 3, 16).exp() * open_BS for name in ("weights", "coverage")}
    of_attention["clock"] = torch.ones(5, 3, 1)
    state |= {name: value for name, value in of_attention.items() if name in state}
    with threads(count):
        together = advance(network.program, inputs, state, weights, memory)
        for k in range(5):
            own_inputs, own_state = ({n: t[k : k + 1] for n, t in each.items()} for each in (inputs, state))
            alone = advance(network.program, own_inputs, own_state, weights, memory)
            for name in (*network.program.returns, *network.program.carried):
                assert torch.equal(alone[name][0], together[name][k])


@pytest.mark.matrix
@torch.no_grad()
@HIDDEN
def test_a_stack_step_by_step_has_the_bits_of_a_scan(cell: Cell, hidden: int, layers: Callable) -> None:
    network = layers(cell, hidden, height=2, lengths=(5,) * 7).to(torch.float32)
    assert_same_bits(step_by_step(network), network.fast())


@torch.no_grad()
def test_a_scan_without_gradients_agrees_with_one_that_records(query: str, decoder: Callable) -> None:
    network = decoder(Lstm(), Concat(), query, True, 7)
    expected = network.fast()
    with torch.enable_grad():
        recorded = network.fast()
    assert_close(expected, {name: value.detach() for name, value in recorded.items()}, rtol=0, atol=1e-12)
