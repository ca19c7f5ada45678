from pathlib import Path

import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.perplexity import Prediction
from anaphora.experiment.assess import TranslationScores, assess
from anaphora.experiment.conduct import train
from anaphora.experiment.schema import Experiment


def test_a_translator_is_scored_on_its_own_test_part_or_on_given_files(
    translator: Experiment, toy_pairs: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    train(translator, run)
    own = assess(run)
    given = assess(run, pairs=(toy_pairs / "test.en", toy_pairs / "test.fr"))
    assert own.keys() == {"test"}
    assert given.keys() == {"test.en"}
    assert own["test"] == given["test.en"]
    assert isinstance(own["test"], TranslationScores)
    assert own["test"].json()["raw"]["bleu"]["signature"] in str(own["test"])
    with pytest.raises(ConfigError, match="is a translator"):
        assess(run, text=toy_pairs / "test.en")


def test_unequal_files_are_refused_with_both_counts(translator: Experiment, toy_pairs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(translator, run)
    (toy_pairs / "longer.fr").write_text((toy_pairs / "test.fr").read_text() + "more\n")
    with pytest.raises(DataError, match=r"has 3 and .* has 4"):
        assess(run, pairs=(toy_pairs / "test.en", toy_pairs / "longer.fr"))


def test_a_language_model_is_scored_on_given_text(language_model: Experiment, toy_book: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(language_model, run)
    [figures] = assess(run, text=toy_book).values()
    assert isinstance(figures, Prediction)
    assert figures.tokens == len(toy_book.read_text())
    with pytest.raises(ConfigError, match="is a language model"):
        assess(run, pairs=(toy_book, toy_book))
    with pytest.raises(DataError, match="no test part"):
        assess(run)
