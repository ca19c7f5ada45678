"""What stands between units: residual sums, masks of a whole sentence, normalisation; together, for every unit."""

import itertools
from collections.abc import Callable

import pytest
import torch

from anaphora.kernels.cells import Cell
from anaphora.kernels.naive.units import NORMALISED_UNITS

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
