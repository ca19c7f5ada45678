"""Whole decoders and stacks through the one loop over time: exact gradients, and the rules that make it one loop."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Gru, Lstm
from anaphora.kernels.scores import Concat, Dot, General, Score
from anaphora.kernels.tensor_rows import TensorRows

from .conftest import CELLS, FORMS, shown

EACH_PART = pytest.mark.parametrize(
    ("unit", "score"), [*((cell, General()) for cell in CELLS), *((Gru(), form) for form in FORMS)], ids=shown
)
"""Every unit, and every score."""


@EACH_PART
def test_values_and_gradients_of_a_decoder_equal_the_naive_reading(
    unit: Cell, score: Score, query: str, feeding: bool, decoder: Callable
) -> None:
    decoder(unit, score, query, feeding, 7).assert_naive()


@pytest.mark.matrix
@EACH_PART
def test_the_derived_gradients_of_a_decoder_are_those_of_finite_differences(
    unit: Cell, score: Score, query: str, decoder: Callable
) -> None:
    assert decoder(unit, score, query, True, 7, lengths=(1, 2), positions=(3, 2)).exact(fast_mode=True)


@pytest.mark.slow
def test_every_decoder_is_exact(cell: Cell, form: Score, query: str, feeding: bool, decoder: Callable) -> None:
    for hidden in (1, 7, 63):
        decoder(cell, form, query, feeding, hidden).assert_naive()
    assert decoder(cell, form, query, feeding, 1, lengths=(1, 2), positions=(3, 2)).exact()
    assert decoder(cell, form, query, feeding, 63).exact(fast_mode=True)


def test_padding_full_of_nan_changes_nothing(query: str, feeding: bool, decoder: Callable) -> None:
    network = decoder(Gru(), Concat(), query, feeding, 7)
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
def test_lengths_on_the_processor_do_for_tensors_on_any_device(
    cell: Cell, lengths: tuple[int, ...], layers: Callable
) -> None:
    network = layers(cell, 7, lengths=lengths, masked=True)
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
