"""What a model can do is asked of the model itself."""

from typing import Any

import pytest

from anaphora.protocols import Growing, ProgramModel, Searchable, VocabularyInfo
from tests.networks import build

VOCABULARY = VocabularyInfo(11, 0, 1, 2, 3)


@pytest.mark.parametrize(
    ("task", "tables", "capabilities"),
    [
        ("translate", {}, {Searchable, ProgramModel}),
        ("language-model", {}, {Searchable, ProgramModel}),
        ("language-model", {"model": "feed-forward"}, {Searchable}),
        ("language-model", {"model": "ngram"}, {Searchable, Growing}),
        ("align", {}, {Growing}),
    ],
)
def test_every_model_shows_its_capabilities(task: str, tables: dict[str, Any], capabilities: set[type]) -> None:
    model = build(task, tables, dict.fromkeys(("source", "target", "text"), VOCABULARY), "test.toml")
    assert {each for each in (Searchable, Growing, ProgramModel) if isinstance(model, each)} == capabilities
