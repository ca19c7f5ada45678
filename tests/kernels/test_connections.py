"""What stands between units: residual sums, masks of a whole sentence, normalisation; together, for every unit."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from anaphora.kernels.cells import Cell, Lstm
from anaphora.kernels.naive.normalised import NORMALISED_UNITS

OPTIONS = [
    dict(zip(("residual", "normalised", "variational"), on, strict=True)) for on in itertools.product([0, 1], repeat=3)
]
TOGETHER = {"residual": True, "normalised": True, "variational": True}


def shown(options: dict[str, int]) -> str:
    return "-".join(name for name, on in options.items() if on) or "plain"


@pytest.mark.matrix
@pytest.mark.parametrize("options", OPTIONS[1:], ids=shown)
def test_values_and_gradients_equal_the_naive_reading(cell: Cell, options: dict[str, bool], layers: Callable) -> None:
    if options["normalised"] and type(cell) not in NORMALISED_UNITS:
        options = options | {"normalised": False}
    layers(cell, 7, height=3, **options).assert_naive()


@pytest.mark.matrix
def test_the_derived_gradients_are_right_at_a_large_odd_size(cell: Cell, layers: Callable) -> None:
    assert layers(cell, 63, height=2, **TOGETHER).exact(fast_mode=True)


def test_a_sentence_has_the_same_bits_alone_and_among_others(cell: Cell, layers: Callable) -> None:
    network = layers(cell, 20, height=2, lengths=(5, 2, 7, 1, 9, 3, 9), **TOGETHER).to(torch.float32)
    with torch.no_grad():
        network.assert_same_bits_alone()


def test_a_recurrent_mask_that_drops_all_leaves_each_step_its_input_alone(layers: Callable) -> None:
    """All that is left of the past is what the unit keeps without a matrix; the LSTM's cell, here set to zero."""
    network = layers(Lstm(), 7, variational=True, lengths=(1, 1, 1))
    dropped = replace(network, sentence_masks=network.sentence_masks | {"layer0.mask": torch.zeros(3, 7).double()})
    other = {"first layer0.h": torch.randn(3, 7, dtype=torch.float64)}
    assert_close(dropped.fast(**other), dropped.fast(), rtol=0, atol=0)
    assert not torch.equal(network.fast(**other)["last layer0.h"], network.fast()["last layer0.h"])
