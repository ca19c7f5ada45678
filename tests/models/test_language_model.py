"""A language model: windows with carried state are one long text."""

from typing import Any

import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel
from anaphora.models.registry import build, network_config
from anaphora.protocols import Batch, Sequence, Symbols

SYMBOLS = Symbols(17, 0, 1, 2, 3)


def make(**tables: Any) -> LanguageModel:
    small = {"embedding": {"size": 6}, "recurrence": {"size": 8, "layers": 2}}
    model = build("language-model", small | tables, {"text": SYMBOLS}, "test.toml")
    assert isinstance(model, LanguageModel)
    model.initialise(seed=3)
    return model


def window(ids_BT: torch.Tensor, continues: bool) -> Batch:
    rows, steps = ids_BT.shape[0], ids_BT.shape[1] - 1
    lengths = torch.full((rows,), steps)
    return Batch(
        Sequence(ids_BT[:, :-1], lengths),
        Sequence(ids_BT[:, 1:], lengths),
        torch.arange(rows),
        torch.full((rows,), continues),
    )


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_windows_with_carried_state_are_one_long_text(cell: str) -> None:
    model = make(recurrence={"size": 8, "cell": cell}).double()
    ids = torch.randint(4, 17, (3, 13), generator=torch.Generator().manual_seed(1))
    whole, _ = model(window(ids, False))
    carry, total = None, 0.0
    for start in 0, 4, 8:
        loss, carry = model(window(ids[:, start : start + 5], start > 0), carry)
        total += loss.sum.item()
    assert total == pytest.approx(whole.sum.item(), rel=1e-12)


def test_a_row_that_does_not_go_on_starts_afresh() -> None:
    model = make()
    ids = torch.randint(4, 17, (3, 5), generator=torch.Generator().manual_seed(1))
    _, carry = model(window(ids, False))
    fresh, _ = model(window(ids, False), carry)
    first, _ = model(window(ids, False))
    assert torch.equal(fresh.sum, first.sum)


def test_what_is_carried_has_no_gradient() -> None:
    _, carry = make()(window(torch.full((2, 3), 5), False))
    assert carry and not any(state.requires_grad for state in carry.values())


def test_stepping_a_text_gives_its_loss_and_starts_from_the_end_of_a_line() -> None:
    model = make()
    ids = torch.tensor([[3, 5, 9, 11, 3]])
    stepper = model.stepper()
    loss, _ = model(window(ids, False))
    memory, state = stepper.start(window(ids, False))
    assert stepper.bos == stepper.eos == 3
    total = 0.0
    for before, after in zip(ids[0, :-1], ids[0, 1:], strict=True):
        log_probs, weights, state = stepper.advance(memory, state, before.unsqueeze(0))
        assert weights is None
        total -= log_probs[0, after].item()
    assert total == pytest.approx(loss.sum.item(), rel=1e-5)


def test_an_unknown_task_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="language-model"):
        network_config("langage-model")
