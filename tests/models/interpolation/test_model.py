"""An interpolation: itself where its members are one, and what cannot be mixed; ``test_text_models`` has the rest."""

from typing import Any

import numpy as np
import pytest
import torch

from anaphora.errors import ConfigError
from anaphora.models.interpolation.model import Interpolation
from anaphora.models.ngram.model import NgramModel
from anaphora.protocols import VocabularyInfo
from tests.networks import build

from ...batches import text_batch

SYMBOLS = VocabularyInfo(9, 0, 1, 2, 3)
END = SYMBOLS.eos
TEXT = [int(unit) for unit in np.random.default_rng(5).choice([3, 4, 5, 6, 7, 8], size=300)]
RECURRENT = {"model": "recurrent", "embedding": {"size": 4}, "recurrence": {"size": 6, "layers": 2}}
WINDOW = {"model": "feed-forward", "embedding": {"size": 4}, "network": {"kind": "feed-forward", "words": 2, "size": 8}}
NGRAM = {"model": "ngram", "ngram": {"order": 3}}
CACHE = {"kind": "counts", "order": 2, "tokens": 7, "half_life": 3.0}
MIXED = {
    "everything": ([RECURRENT, WINDOW, NGRAM], CACHE),
    "members alone": ([RECURRENT, NGRAM], "none"),
    "counts and cache": ([NGRAM], CACHE),
}


def make(members: list[dict[str, Any]], cache: Any) -> Interpolation:
    table = {"runs": [str(place) for place in range(len(members))], "members": members, "cache": cache}
    model = build("language-model", {"model": "interpolation", "interpolation": table}, {"text": SYMBOLS}, "test.toml")
    assert isinstance(model, Interpolation)
    for place, member in enumerate(model.members):
        if isinstance(member, NgramModel):
            member.fit(np.array([END, *TEXT]), lambda order: None)
        else:
            member.initialise(place)  # type: ignore[operator]
    model.weights.copy_(torch.arange(1, len(model.weights) + 1) / sum(range(len(model.weights) + 1)))
    return model.eval()


def test_a_model_mixed_with_itself_is_itself() -> None:
    twice, alone = make([NGRAM, NGRAM], "none"), make([NGRAM], CACHE)
    ids = text_batch([[END, *TEXT[:40]]])
    expected, _ = alone.members[0].target_log_probs(ids)  # type: ignore[operator]
    np.testing.assert_allclose(twice.target_log_probs(ids)[0], expected, rtol=0, atol=1e-12)


def test_how_far_it_looks_back_is_how_far_its_members_do() -> None:
    assert make([NGRAM, WINDOW], "none").stepper().order == 3
    assert make([NGRAM], CACHE).stepper().order == make([NGRAM, RECURRENT], "none").stepper().order == 0


def test_one_run_without_a_cache_is_no_mixture() -> None:
    with pytest.raises(ConfigError, match=r"one run without a cache.* name another run, or add a cache"):
        make([NGRAM], "none")
