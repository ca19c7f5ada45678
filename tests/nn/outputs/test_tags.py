"""Outputs over tags: their loss is that of their tags, and what is barred is never predicted."""

from typing import Any

import pytest
import torch
from pydantic import TypeAdapter
from torch import Tensor
from torch.testing import assert_close

from anaphora.batch import Ids, Items, Supervision, Values
from anaphora.errors import ConfigError, ShapeError
from anaphora.formats.span_tags import PREFIXES, Encoding, first_fault
from anaphora.nn.outputs.tags import AnyTagOutput, TagOutput
from anaphora.nn.randomness import generator
from anaphora.nn.weights import Uniform

WIDTH, LENGTHS_B = 6, torch.tensor([5, 3, 1])
KINDS = ["softmax", "sigmoid", "crf"]


def make(table: Any, tags: list[str], encoding: Encoding | None = None) -> TagOutput:
    output: TagOutput = TypeAdapter[Any](AnyTagOutput).validate_python(table).build(WIDTH, tags, encoding)
    output.initialise(Uniform(range=0.5), generator(3, "initialise"))
    return output


def states(rows: int = 3, seed: int = 1) -> Tensor:
    return torch.randn(5, rows, WIDTH, generator=torch.Generator().manual_seed(seed))


def targets(kind: str, classes: int) -> Items:
    source = torch.Generator().manual_seed(2)
    if kind == "sigmoid":
        return Values(torch.randint(0, 2, (3, 5, classes), generator=source).float(), LENGTHS_B)
    return Ids(torch.randint(0, classes, (3, 5), generator=source), LENGTHS_B)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_of_a_batch_is_that_of_its_sentences(kind: str) -> None:
    output, every = make(kind, ["A", "B", "C"]), targets(kind, 3)
    whole = output.loss(states(), every, Supervision(weights_B=torch.tensor([1.0, 0.5, 2.0])))
    assert whole.count == 9
    alone = []
    for row, length in enumerate(LENGTHS_B.tolist()):
        lengths_B = torch.tensor([length])
        if isinstance(every, Values):
            one: Items = Values(every.values_BTD[row : row + 1, :length], lengths_B)
        else:
            assert isinstance(every, Ids)
            one = Ids(every.ids_BT[row : row + 1, :length], lengths_B)
        alone.append(output.loss(states()[:length, row : row + 1], one).sum)
    assert_close(whole.sum, alone[0] + 0.5 * alone[1] + 2 * alone[2])


@pytest.mark.parametrize("kind", KINDS)
def test_learning_its_own_predictions_makes_them_more_probable(kind: str) -> None:
    output = make(kind, ["A", "B", "C"])
    predicted = output.predict(states(), LENGTHS_B).to(torch.device("cpu"))
    optimizer = torch.optim.SGD(output.parameters(), 0.05)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = output.loss(states(), predicted).sum
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("encoding", PREFIXES)
def test_a_crf_predicts_whole_spans_alone(encoding: Encoding) -> None:
    tags = ["O", *(f"{prefix}-{type_}" for prefix in PREFIXES[encoding] for type_ in ("X", "Y"))]
    crf, softmax = make("crf", tags, encoding), make("softmax", tags)
    lengths_B, faults = torch.randint(1, 6, (200,), generator=torch.Generator().manual_seed(4)), {}
    for output in crf, softmax:
        found = output.predict(states(200), lengths_B)
        assert isinstance(found, Ids)
        rows = [[tags[n] for n in row[:length]] for row, length in zip(found.ids_BT, lengths_B, strict=True)]
        faults[output] = sum(first_fault(row, encoding) is not None for row in rows)
    assert faults[crf] == 0
    assert faults[softmax] > 0


def test_options_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match="'NOUN' is no tag of spans in IOB2"):
        make("crf", ["O", "NOUN"], "iob2")
    with pytest.raises(ConfigError, match="Spans need"):
        make("sigmoid", ["O"], "iob2")
    with pytest.raises(ShapeError, match="Values"):
        make("sigmoid", ["A"]).loss(states(), targets("softmax", 1))
    with pytest.raises(ShapeError, match="Ids"):
        make("crf", ["A"]).loss(states(), targets("sigmoid", 1))
