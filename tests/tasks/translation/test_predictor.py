"""The pipeline over small untrained networks: what it promises holds for any weights."""

import random
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anaphora.errors import ConfigError, DataError
from anaphora.events import Event, Progress
from anaphora.prediction.arguments import EncodedSentence
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import load
from anaphora.tasks.translation import forced_decoding
from anaphora.tasks.translation.constraints import max_length
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation

from ..conftest import TRANSLATOR, network, same, saved, sentences

EMPTY = Translation("", 0.0, True, (), (), None)


def in_no_order(texts: list[str], seed: int) -> list[str]:
    return random.Random(seed).sample(texts, len(texts))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sentences are searched side by side."""
    monkeypatch.setattr(forced_decoding, "_BATCH_TOKENS", 50)


def test_translations_stand_in_the_order_of_their_texts_over_many_batches(
    untrained_translator: TranslationPredictor, small_batches: None
) -> None:
    events: list[Event] = []
    texts = in_no_order([*sentences(30, most=9, seed=3), *["", "  "] * 2], 3)
    together = untrained_translator.translate(texts, beam=5, report=events.append, attention=True)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert len(done) > 3 and done == sorted(done) and done[-1] == 34  # one a batch
    assert len({translation.source_pieces for translation in together}) > 25
    for text, translation in list(zip(texts, together, strict=True))[::3]:
        [alone] = untrained_translator.translate([text], beam=5, attention=True)
        assert same(translation, alone) if text.strip() else translation == alone == replace(EMPTY, text=text)


def test_scored_pairs_and_their_links_stand_in_their_order_over_many_batches(
    untrained_translator: TranslationPredictor, small_batches: None
) -> None:
    events: list[Event] = []
    sources, targets = (in_no_order([*sentences(30, most=9, seed=seed), *[""] * 4], seed) for seed in (11, 12))
    together = untrained_translator.score_pairs(sources, targets, report=events.append, attention=True)
    assert sum(isinstance(event, Progress) for event in events) > 3
    assert len({translation.score for translation in together}) > 25
    for source, target, translation in list(zip(sources, targets, together, strict=True))[::3]:
        assert same(untrained_translator.score_pairs([source], [target], attention=True)[0], translation)
    assert untrained_translator.align(sources, targets) == [translation.links() for translation in together]


@pytest.mark.parametrize(
    "text", ["", "  ", "\t", "\u00a0", "\u3000 \u2009", "\u200b\ufeff", "\u00ad\u2060", "\u3164\u2800"]
)
def test_a_text_of_which_nothing_can_be_seen_is_its_own_translation_without_links(
    untrained_translator: TranslationPredictor, text: str
) -> None:
    for split in (False, True):
        [found] = untrained_translator.stream([text], split=split)
        assert found == replace(EMPTY, text=text)
        assert found.links() == frozenset()
    assert untrained_translator.translate([text]) == untrained_translator.translate_text([text]) == [found]


def test_texts_that_are_no_list_of_texts_are_refused(untrained_translator: TranslationPredictor) -> None:
    assert untrained_translator.translate([]) == untrained_translator.score_pairs([], []) == []
    for translate in (untrained_translator.translate, untrained_translator.translate_text):
        with pytest.raises(TypeError, match="put it into a list"):
            translate("a man")
    with pytest.raises(TypeError, match="number 3 of them is of type float"):
        untrained_translator.translate(["a man", "", float("nan")])  # type: ignore[list-item]
    with pytest.raises(DataError, match="2 sources and 1 translation"):
        untrained_translator.score_pairs(["a", "b"], ["a"])


def test_a_line_that_is_too_long_for_a_sentence_is_refused_by_its_number(
    untrained_translator: TranslationPredictor,
) -> None:
    endless = "a " * 10_001
    for call in (
        lambda: untrained_translator.translate(["a man", endless]),
        lambda: untrained_translator.translate_text(["a man", endless]),
        lambda: untrained_translator.score_pairs(["a man", endless], ["a", "a"]),
        lambda: untrained_translator.align(["a", "a"], ["a man", endless]),
    ):
        with pytest.raises(DataError, match=r"Line 2 should have at most 10,000 tokens, but has \d\d,\d{3}: split it"):
            call()


def test_a_line_that_waits_is_answered_before_the_next_is_written(untrained_translator: TranslationPredictor) -> None:
    answered = threading.Event()

    def client() -> Iterator[str]:
        yield "the man walks"
        assert answered.wait(30)
        yield "a dog"

    found = []
    for translation in untrained_translator.stream(client(), SearchOptions(beam=1)):
        found.append(translation.text)
        answered.set()
    assert found == [one.text for one in untrained_translator.translate(["the man walks", "a dog"], beam=1)]


def test_attention_is_kept_only_where_it_is_asked_for_and_fits_the_pieces(
    untrained_translator: TranslationPredictor,
) -> None:
    texts = sentences(5, most=8, seed=4)
    light, whole = (untrained_translator.translate(texts, attention=asked) for asked in (False, True))
    forced, whole_forced = (
        untrained_translator.score_pairs(texts, texts[::-1], attention=asked) for asked in (False, True)
    )
    for one, other in zip([*light, *forced], [*whole, *whole_forced], strict=True):
        assert one.weights is None and not one.source_pieces and not one.target_pieces
        assert other.weights is not None and other.source_pieces[-1] == "</s>"
        assert other.weights.shape == (len(other.target_pieces), len(other.source_pieces))
        assert np.allclose(other.weights.sum(axis=1), 1.0, atol=1e-5)
        assert (other.target_pieces[-1:] == ("</s>",)) == other.finished
        assert (one.text, one.score, one.finished) == (other.text, other.score, other.finished)
    with pytest.raises(ConfigError, match="attention, which was not requested"):
        forced[0].links()


def test_a_beam_of_none_or_of_more_than_memory_holds_is_refused(
    untrained_translator: TranslationPredictor, untrained_language_model: LanguageModelPredictor
) -> None:
    for beam in (-1, 0, 1001):
        complaint = f"should be at least 1 and at most 1,000, .* but is {beam:,}: change it"
        with pytest.raises(ConfigError, match=complaint):
            untrained_translator.translate(["a man"], beam=beam)
        if beam:
            with pytest.raises(ConfigError, match=complaint):
                untrained_language_model.generate("the", beam=beam, on_text=pytest.fail)


def test_the_wider_a_beam_the_fewer_sentences_are_searched_side_by_side(
    untrained_translator: TranslationPredictor,
) -> None:
    rows = [EncodedSentence("a man", untrained_translator.source.encode("a man"))] * 80
    for beam, most in (1, 80), (32, 80), (256, 64):
        assert max(len(batch.example_ids_B) for batch in untrained_translator.batches(rows, beam=beam)) == most


def test_a_translation_is_never_cut_before_thrice_a_short_source() -> None:
    assert max_length(1) == 13
    assert max_length(100) == 310
    assert max_length(1000) == 2200
    assert all(max_length(units) > 2 * units for units in range(1, 5000, 7))


def test_a_run_is_searched_as_its_experiment_says_unless_told_otherwise(
    untrained_translator: TranslationPredictor, tmp_path: Path
) -> None:
    text, own = {"tokenizer": "bpe", "size": 330}, {"beam": 2, "length_penalty": 1.5}
    experiment = {"task": "translate", "text": text, "evaluation": own, **TRANSLATOR}
    saved(
        tmp_path / "run",
        experiment,
        network(untrained_translator),
        {"source": untrained_translator.source, "target": untrained_translator.target},
    )
    loaded, texts = load(tmp_path / "run"), sentences(4, most=8, seed=8)
    assert isinstance(loaded, TranslationPredictor)
    for asked, expected in (({}, (2, 1.5)), ({"beam": 4}, (4, 1.5)), ({"length_penalty": 0}, (2, 0))):
        beam, penalty = expected
        own = loaded.translate(texts, attention=True, **asked)
        assert all(
            map(same, own, untrained_translator.translate(texts, beam=beam, length_penalty=penalty, attention=True))
        )


def test_translators_of_other_languages_are_no_ensemble_though_one_vocabulary_serves_both(
    untrained_translator: TranslationPredictor,
) -> None:
    there, back = (replace(untrained_translator, languages=sides) for sides in (("fi", "tr"), ("tr", "fi")))
    with pytest.raises(ConfigError, match="number 2 translates tr to fi and number 1 fi to tr: leave one out"):
        TranslationPredictor.ensemble([there, back])
