"""Every draw is a function of (seed, purpose, update, rank)."""

import pytest
import torch

from anaphora.nn.randomness import dropout_mask, generator
from tests.runtimes import updating

LIKE = torch.zeros(1)


def mask(seed: int = 1, update: int = 1, rank: int = 0, purpose: str = "x") -> torch.Tensor:
    with updating(seed, update, rank):
        return dropout_mask(purpose, (50, 40), 0.3, LIKE)


def test_the_same_arguments_give_the_same_mask_whatever_was_drawn_before() -> None:
    first = mask()
    torch.rand(17)
    mask(update=2)
    assert torch.equal(first, mask())


@pytest.mark.parametrize("other", [{"seed": 2}, {"update": 2}, {"rank": 1}, {"purpose": "y"}])
def test_each_argument_changes_the_mask(other: dict[str, int | str]) -> None:
    assert not torch.equal(mask(), mask(**other))  # type: ignore[arg-type]


def test_a_mask_keeps_the_mean() -> None:
    values = mask()
    assert sorted(values.unique().tolist()) == pytest.approx([0.0, 1 / 0.7], rel=1e-4)
    assert values.mean().item() == pytest.approx(1.0, abs=0.1)


def test_draws_end_with_their_block() -> None:
    with updating(1, 1), updating(1, 2):
        inner = dropout_mask("x", (50, 40), 0.3, LIKE)
    assert torch.equal(inner, mask(update=2))
    with pytest.raises(RuntimeError, match="within"):
        dropout_mask("x", (1,), 0.5, LIKE)


def test_generators_are_the_same_on_every_machine() -> None:
    assert generator(1, "initialise").initial_seed() == 8054857924287886709
