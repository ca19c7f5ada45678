"""Confidence depends on the sentence alone, covers every word, and is refused where it was not calibrated."""

from copy import copy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import anaphora
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.classification import calibration_error
from anaphora.files import DamagedError
from anaphora.formats.lines import write_lines
from anaphora.prediction.options import SearchOptions
from anaphora.run import calibrations
from anaphora.run.summary import about
from anaphora.search.sampling import Sampling
from anaphora.tasks.runs import options_at
from anaphora.tasks.translation.confidence import (
    LEAST,
    are_good,
    calibrate,
    fit,
    probabilities,
    text_features,
    word_filter,
)
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from tests.cli.conftest import Shown

from ...conftest import Trained
from ..conftest import sentences, shown


def judging(translator: TranslationPredictor) -> Any:
    """The same with some confidence, whatever the settings."""
    found: Any = copy(translator)
    signals = [one.signals for one in translator.translate(sentences(5, most=9, seed=2), beam=2, signals=True)]
    words = [word for one in signals if one for word in one.words]
    rows = [one.sentence for one in signals if one], words
    sentence, word = (fit(np.array(row), np.arange(len(row)) % 2.0) for row in rows)
    fitted = SimpleNamespace(sentence=sentence, word=word, known_words=("", ""))
    found.calibrations = SimpleNamespace(calibration=lambda *_: fitted)
    return found


def judged(found: Translation) -> list[tuple[float | None, tuple[float | None, ...]]]:
    return [(one.confidence, one.word_confidences) for one in (found, *found.alternatives)]


@pytest.mark.parametrize("asked", [{"beam": 4, "alternatives": 2}, {"sampling": Sampling(seed=3), "minimum_risk": 3}])
def test_confidence_is_the_same_alone_and_in_any_batch(predictor: TranslationPredictor, asked: dict[str, Any]) -> None:
    translator, texts = judging(predictor), sentences(4, most=9, seed=31)
    together = translator.translate(texts, confidence=True, **asked)
    turned = translator.translate(texts[::-1], confidence=True, **asked)[::-1]
    alone = [translator.translate([text], confidence=True, **asked)[0] for text in texts]
    assert list(map(judged, together)) == list(map(judged, turned)) == list(map(judged, alone))
    assert len({one.confidence for one in together}) > 2
    assert [one.text for one in together] == [one.text for one in translator.translate(texts, **asked)]


def test_every_word_has_one_and_what_is_kept_has_none(predictor: TranslationPredictor) -> None:
    translator = judging(predictor)
    texts = [*sentences(6, seed=5), "a <b>man</b> sees {name}", "{name}", "", "the dog walks. <i>{x}</i>"]
    for found in translator.translate_text(texts, beam=2, confidence=True, protect=("placeholders", "tags")):
        assert len(found.word_confidences) == len(found.text.split())
        assert all(value is None or 0 < value < 1 for value in found.word_confidences)
    *_, kept, empty, _ = translator.translate(texts, beam=2, confidence=True)
    assert kept.confidence is None and kept.word_confidences == (None,)
    assert empty.confidence is None and empty.word_confidences == ()


def test_a_line_of_several_sentences_has_the_lowest_confidence() -> None:
    one = Translation("a b", 0.0, True, confidence=0.5, word_confidences=(0.1, 0.9))
    other = replace(one, text="c", confidence=0.3, word_confidences=(0.4,))
    kept = replace(one, text="<i/>", confidence=None, word_confidences=(None,))
    spaced = Translation.join("a b c <i/>", [one, other, kept], [(" ", " "), (" ", " ")])
    assert (spaced.confidence, spaced.word_confidences) == (0.3, (0.1, 0.9, 0.4, None))
    assert Translation.join("a bc", [one, other], [("", "")]).word_confidences == (0.1, 0.4)


def test_a_copy_of_a_source_word_that_the_target_side_never_had_is_not_trusted() -> None:
    known = word_filter(["open", "file"]), word_filter(["datei", "server"])
    assert text_features("Open %s", "Datei %s", known)[1:] == (0.0, 0.0, 0.0)
    assert text_features("Open server", "Server", known)[1:] == (0.5, 0.0, 0.0)
    assert text_features("Open sash", "Sash datei", known)[1:] == (0.5, 0.5, 0.5)


@pytest.fixture
def run(trained_copy: Trained, tmp_path: Path) -> Path:
    """A translator of words, and more pairs than it was trained on."""
    animals, things = ("cat", "dog", "horse"), ("bird", "rat", "pig", "lamb", "fish", "boat")
    lines = [f"The {a} sees a very small {b} {'very ' * n}" for a in animals for b in things for n in range(7)]
    references = [line.replace("The", "Le").replace("sees", "voit") if n % 3 else "x y" for n, line in enumerate(lines)]
    write_lines(tmp_path / "held.en", lines)
    write_lines(tmp_path / "held.fr", references)
    return trained_copy("translator-of-words")


def test_a_translation_is_good_that_needs_no_or_one_word_edited(run: Path) -> None:
    pairs, experiment = [("hi", "salut"), ("hi", "bonjour"), ("no", "bonjour")], options_at(run)
    assert are_good(["salut", "salut", "salut"], pairs, experiment) == [True, True, False]
    long = [("a", "Ce champ est requis."), ("b", "Ce champ est vide"), ("c", "un champ vide")]
    assert are_good(["ce champ est vide", "Ce nom est requis", "un nom vide"], long, experiment) == [True, False, False]


def test_what_is_left_empty_keeps_its_confidence_and_the_terms_that_it_lacks() -> None:
    found = Translation("Un homme", -1.0, True, confidence=0.3, missing_terms=("man",)).withheld()
    assert (found.text, found.confidence, found.missing_terms) == ("", 0.3, ("man",))


def test_a_run_is_calibrated_for_each_way_to_search_it(run: Path, tmp_path: Path) -> None:
    translator, texts = anaphora.load(run), ["The cat sees a very small rat"]
    with pytest.raises(ConfigError, match="has no calibrated confidence: run anaphora calibrate"):
        translator.translate(texts, confidence=True)
    files = ["--source", tmp_path / "held.en", "--reference", tmp_path / "held.fr"]
    fitted = shown("calibrate", run, *files, "--beam", "2", "--json").json
    assert fitted["fitted_on"] == fitted["sentences"]["examples"] == 126 and fitted["settings"]["beam"] == 2
    [found] = translator.translate(texts, confidence=True, beam=2)
    assert 0 < found.confidence < 1 and len(found.word_confidences) == len(found.text.split())
    with pytest.raises(ConfigError, match=r"calibrated for precision fp32, beam 2.*but not for precision fp32, beam 3"):
        translator.translate(texts, confidence=True, beam=3)
    asked = ["translate", run, tmp_path / "held.en", "--beam", "3"]
    printed = shown(*asked, "--confidence")
    assert printed.out.startswith("\t") and "but not for precision fp32, beam 3" in printed.err
    shown(*asked, "--min-confidence", "0.5", code=2)
    with pytest.raises(ConfigError, match="one run by itself"):
        TranslationPredictor.ensemble([translator, translator]).translate(texts, confidence=True, beam=2)
    shown("calibrate", run, *files, "--beam", "3")
    assert [one.settings["beam"] for one in calibrations.read(run)] == [2, 3]


def test_lines_are_written_as_sure_as_asked(run: Path, tmp_path: Path) -> None:
    calibrate(anaphora.load(run), (tmp_path / "held.en", tmp_path / "held.fr"), SearchOptions(beam=2))
    [found] = anaphora.load(run).translate(["The cat sees a very small rat"], confidence=True, beam=2)

    def written(file: Path, *asked: str) -> Shown:
        return shown("translate", run, file, *asked, "--beam", "2")

    (text := tmp_path / "text.en").write_text("The cat sees a very small rat\n\n")
    assert written(text, "--confidence").lines == [f"{found.confidence:.4f}\t{found.text}", "\t"]
    sure = written(text, "--min-confidence", "1")
    assert sure.out == "\n\n" and "1 of 2 lines was left empty: their confidence is below 1" in sure.err
    first, second = written(text, "--confidence", "--json").objects
    assert first["confidence"] == found.confidence and first["word_confidences"] == list(found.word_confidences)
    assert second["confidence"] is None and second["word_confidences"] == []
    assert f"confidence= {found.confidence:.6f}" in written(text, "--confidence", "--nbest", "1").out
    catalogue = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    (document := tmp_path / "app.po").write_text(f'{catalogue}msgid "The cat sees a very small rat"\nmsgstr ""\n')
    assert f'msgstr "{found.text}"' in written(document, "--min-confidence", "0").out
    (film := tmp_path / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nThe cat sees a very small rat\n")
    for file, said in (document, "left empty (line 4)"), (film, "left in the source language (line 3)"):
        sure = written(file, "--min-confidence", "1")
        assert sure.out == file.read_text() and f"of too low a confidence was {said}" in sure.err


def test_a_changed_file_and_other_weights_are_refused(run: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "held.en", tmp_path / "held.fr"
    translator = anaphora.load(run)
    calibrate(translator, pairs)
    file = run / calibrations.NAME
    content = file.read_bytes()
    file.write_bytes(content.replace(b'"fitted_on": ', b'"fitted_on": 1', 1))
    with pytest.raises(DamagedError, match=r"confidence\.json was changed after it was written"):
        translator.translate(["The cat"], confidence=True)
    assert any(str(file) in fault for fault in about(run).faults)
    file.unlink()
    calibrations.add(run, calibrate(translator, pairs).with_options({"weights": "other"}))
    with pytest.raises(ConfigError, match="was calibrated for other weights"):
        translator.translate(["The cat"], confidence=True)
    (tmp_path / "held.en").write_text("The cat\n" * (LEAST - 1))
    (tmp_path / "held.fr").write_text("Le chat\n" * (LEAST - 1))
    with pytest.raises(DataError, match=f"at least {LEAST} pairs"):
        calibrate(translator, pairs)


def test_a_regression_finds_the_probabilities_that_made_its_labels() -> None:
    draw = np.random.default_rng(3)
    features_NF = draw.normal(5, 3, (5_000, 2))
    true_N = 1 / (1 + np.exp(-(features_NF[:, 0] - 5 - 0.5 * (features_NF[:, 1] - 5) + 0.3)))
    labels_N = (draw.random(5_000) < true_N).astype(float)
    found_N = probabilities(fit(features_NF, labels_N), features_NF)
    assert np.abs(found_N - true_N).mean() < 0.02 and calibration_error(found_N, labels_N) < 0.04


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_are_all_alike_and_features_that_never_change_have_a_probability(label: float) -> None:
    fitted = fit(np.ones((50, 3)), np.full(50, label))
    [p] = probabilities(fitted, np.array([[1.0, 7.0, -2.0]]))
    assert 0 < p < 1
    assert probabilities(fitted, np.ones((1, 3))) == pytest.approx(51 / 52 if label else 1 / 52, abs=1e-3)
    with pytest.raises(DataError, match="needs examples"):
        fit(np.ones((0, 3)), np.ones(0))
