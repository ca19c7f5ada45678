"""The context of a language model: cut, shuffled, and the least that is enough."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.segments import SegmentMetric, fraction
from anaphora.inspection import context
from anaphora.inspection.context import EffectiveContext, effective_context
from anaphora.inspection.subject import Subject
from tests.batches import text_batch

TEXT = "".join(f'line {n} of "the (little) book"\n' for n in range(8))


def test_a_loss_is_that_of_the_tokens_in_the_context_alone(language_model: Subject) -> None:
    found = effective_context(language_model, TEXT, longest=16, positions=5)
    assert found.sizes == (1, 2, 4, 8) and found.predicted == 5
    for losses, intervals in zip((found.cut, found.shuffled), found.intervals, strict=True):
        assert all(low <= loss <= high for loss, (low, high) in zip(losses, intervals, strict=True))
    ids = language_model.example(TEXT).batch.target_ids.ids_BT[0].tolist()
    model: Any = language_model.trained.model
    ends = [16 + (len(ids) - 17) * n // 4 for n in range(5)]
    for size, loss in (*zip(found.sizes, found.cut, strict=True), (16, found.whole)):
        texts = [ids[end - size : end + 1] for end in ends]
        log_probs_BT, _ = model.target_log_probs(text_batch(texts))
        assert loss == pytest.approx(-log_probs_BT[:, -1].mean(), abs=1e-5)


def test_shuffling_leaves_the_nearest_tokens_and_the_set_of_the_rest(
    language_model: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[list[int]]] = []
    nothing = SegmentMetric("loss", np.ones((5, 2)), fraction)
    monkeypatch.setattr(context, "_loss", lambda subject, contexts, targets: seen.append(contexts) or nothing)
    effective_context(language_model, TEXT, longest=16, positions=5)
    *rest, whole = seen
    for size, cut, shuffled in zip((1, 2, 4, 8), rest[::2], rest[1::2], strict=True):
        for row, short, mixed in zip(whole, cut, shuffled, strict=True):
            assert short == row[-size:] == mixed[-size:] and sorted(mixed) == sorted(row)
    assert rest[1] != whole


def test_the_effective_context_is_the_least_within_one_percent() -> None:
    found = EffectiveContext("run", 9, 16, 2.0, (1, 2, 4, 8), (3.0, 2.021, 2.019, 2.0), (3.0, 2.0, 2.0, 2.0), ())
    assert found.effective == 4 and "4 tokens" in str(found) and found.json()["effective"] == 4
    assert replace(found, whole=1.0).effective is None and "longer" in str(replace(found, whole=1.0))


def test_what_has_no_such_context_is_refused(
    language_model: Subject, translator: Subject, make_language_model: Any
) -> None:
    of_sentences = make_language_model("gru", 1, "reads=sentences", "data.steps=100")
    for subject, said in ((translator, "measure: it is no language model"), (of_sentences, "every line by itself")):
        with pytest.raises(ConfigError, match=said):
            effective_context(subject, TEXT)
    with pytest.raises(DataError, match="takes more than 612 tokens, but the text has"):
        effective_context(language_model, TEXT[:100])
