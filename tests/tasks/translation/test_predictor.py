"""The pipeline over small untrained networks under every search: what it promises holds for any weights."""

import random
from dataclasses import replace
from itertools import product
from math import inf, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics.chrf import CHRF

import anaphora
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.evaluation.alignment import words_of
from anaphora.events import Event, Progress
from anaphora.formats.pharaoh import words_between_spaces
from anaphora.prediction.arguments import EncodedSentence
from anaphora.prediction.options import SearchOptions
from anaphora.run import Run
from anaphora.search.sampling import Sampling
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.translation import forced_decoding
from anaphora.tasks.translation.constraints import max_length
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation, expected_chrf, probabilities
from anaphora.text.sentences import Splitter

from ..conftest import TRANSLATOR, same, sentences

EMPTY = Translation("", 0.0, True, (), (), None)


def in_no_order(texts: list[str], seed: int) -> list[str]:
    return random.Random(seed).sample(texts, len(texts))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few sentences are searched side by side."""
    monkeypatch.setattr(forced_decoding, "_BATCH_TOKENS", 50)


def test_translations_are_in_order_over_many_batches(predictor: TranslationPredictor, small_batches: None) -> None:
    events: list[Event] = []
    texts = in_no_order([*sentences(30, most=9, seed=3), *["", "  "] * 2], 3)
    together = predictor.translate(texts, beam=5, report=events.append, attention=True)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert len(done) > 3 and done == sorted(done) and done[-1] == 34  # one a batch
    assert len({translation.source_pieces for translation in together}) > 25
    for text, translation in list(zip(texts, together, strict=True))[::3]:
        [alone] = predictor.translate([text], beam=5, attention=True)
        assert same(translation, alone) if text.strip() else translation == alone == replace(EMPTY, text=text)


def test_pairs_and_links_are_in_order_over_many_batches(predictor: TranslationPredictor, small_batches: None) -> None:
    events: list[Event] = []
    sources, targets = (in_no_order([*sentences(30, most=9, seed=seed), *[""] * 4], seed) for seed in (11, 12))
    together = predictor.score_pairs(sources, targets, report=events.append, attention=True)
    assert sum(isinstance(event, Progress) for event in events) > 3
    assert len({translation.score for translation in together}) > 25
    for source, target, translation in list(zip(sources, targets, together, strict=True))[::3]:
        assert same(predictor.score_pairs([source], [target], attention=True)[0], translation)
    assert predictor.align(sources, targets) == [translation.links() for translation in together]


@pytest.mark.parametrize(
    "text", ["", "  ", "\t", "\u00a0", "\u3000 \u2009", "\u200b\ufeff", "\u00ad\u2060", "\u3164\u2800"]
)
def test_a_text_without_anything_visible_is_its_own_translation(predictor: TranslationPredictor, text: str) -> None:
    for split in (False, True):
        [found] = predictor.stream([text], split=split)
        assert found == replace(EMPTY, text=text)
        assert found.links() == frozenset()
    assert predictor.translate([text]) == predictor.translate_text([text]) == [found]


def test_texts_that_are_no_list_of_texts_are_refused(predictor: TranslationPredictor) -> None:
    assert predictor.translate([]) == predictor.score_pairs([], []) == []
    for translate in (predictor.translate, predictor.translate_text):
        with pytest.raises(TypeError, match="put it into a list"):
            translate("a man")
    with pytest.raises(TypeError, match="number 3 of them is of type float"):
        predictor.translate(["a man", "", float("nan")])  # type: ignore[list-item]
    with pytest.raises(DataError, match="2 sources and 1 translation"):
        predictor.score_pairs(["a", "b"], ["a"])


def test_a_line_that_is_too_long_for_a_sentence_is_refused_by_its_number(predictor: TranslationPredictor) -> None:
    endless = "a " * 10_001
    for call in (
        lambda: predictor.translate(["a man", endless]),
        lambda: predictor.translate_text(["a man", endless]),
        lambda: predictor.score_pairs(["a man", endless], ["a", "a"]),
        lambda: predictor.align(["a", "a"], ["a man", endless]),
    ):
        with pytest.raises(DataError, match=r"Line 2 should have at most 10,000 tokens, but has \d\d,\d{3}: split it"):
            call()


def test_attention_is_kept_only_where_it_is_asked_for_and_fits_the_pieces(predictor: TranslationPredictor) -> None:
    texts = sentences(5, most=8, seed=4)
    light, whole = (predictor.translate(texts, attention=asked) for asked in (False, True))
    forced, whole_forced = (predictor.score_pairs(texts, texts[::-1], attention=asked) for asked in (False, True))
    for one, other in zip([*light, *forced], [*whole, *whole_forced], strict=True):
        assert one.weights is None and not one.source_pieces and not one.target_pieces
        assert other.weights is not None and other.source_pieces[-1] == "</s>"
        assert other.weights.shape == (len(other.target_pieces), len(other.source_pieces))
        assert np.allclose(other.weights.sum(axis=1), 1.0, atol=1e-5)
        assert (other.target_pieces[-1:] == ("</s>",)) == other.finished
        assert (one.text, one.score, one.finished) == (other.text, other.score, other.finished)
    with pytest.raises(ConfigError, match="attention, which was not requested"):
        forced[0].links()


def test_a_beam_of_none_or_too_many_is_refused(predictor: TranslationPredictor, model: LanguageModelPredictor) -> None:
    for beam in (-1, 0, 1001):
        complaint = f"should be at least 1 and at most 1,000, .* but is {beam:,}: change it"
        with pytest.raises(ConfigError, match=complaint):
            predictor.translate(["a man"], beam=beam)
        if beam:
            with pytest.raises(ConfigError, match=complaint):
                model.generate("the", beam=beam, on_text=pytest.fail)


def test_the_wider_a_beam_the_fewer_sentences_are_searched_side_by_side(predictor: TranslationPredictor) -> None:
    rows = [EncodedSentence("a man", predictor.source.encode("a man"))] * 80
    for beam, most in (1, 80), (32, 80), (256, 64):
        assert max(len(batch.example_ids_B) for batch in predictor.batches(rows, beam=beam)) == most


def test_a_translation_is_never_cut_before_thrice_a_short_source() -> None:
    assert [max_length(units) for units in (1, 100, 1000)] == [13, 310, 2200]
    assert all(max_length(units) > 2 * units for units in range(1, 5000, 7))


def reloaded(translator: TranslationPredictor, folder: Path, **tables: dict[str, Any]) -> TranslationPredictor:
    """The same translator, loaded from a run of an experiment with these tables."""
    experiment = {"task": "translate", **TRANSLATOR, **tables}
    run = Run.create(folder / "run", experiment, {"source": translator.source, "target": translator.target})
    network: Any = translator.stepper
    run.save(1, network.__self__.state_dict(), {}, {})
    run.mark_best(1)
    return anaphora.load(folder / "run", kind=TranslationPredictor)


def test_a_run_is_searched_as_its_experiment_says_by_default(predictor: TranslationPredictor, tmp_path: Path) -> None:
    text, own = {"tokenizer": "bpe", "size": 330}, {"beam": 2, "length_penalty": 1.5}
    loaded, texts = reloaded(predictor, tmp_path, text=text, evaluation=own), sentences(4, most=8, seed=8)
    for asked, (beam, penalty) in (({}, (2, 1.5)), ({"beam": 4}, (4, 1.5)), ({"length_penalty": 0}, (2, 0))):
        found = loaded.translate(texts, attention=True, **asked)
        expected = predictor.translate(texts, beam=beam, length_penalty=penalty, attention=True)
        assert all(map(same, found, expected))


@pytest.mark.parametrize("lines", ["split", "whole", "unsaid"])
def test_a_run_remembers_whether_lines_are_split(predictor: TranslationPredictor, tmp_path: Path, lines: str) -> None:
    text = {"tokenizer": "bpe"} | ({} if lines == "unsaid" else {"sentences": lines})
    loaded = reloaded(predictor, tmp_path, text=text, data={"source": "en", "target": "de"})
    [found] = loaded.translate_text([PARAGRAPHS[0]])
    assert len(found.sentences) == (0 if lines == "whole" else 2)


def test_translators_of_other_languages_are_no_ensemble(predictor: TranslationPredictor) -> None:
    there, back = (replace(predictor, languages=sides) for sides in (("fi", "tr"), ("tr", "fi")))
    with pytest.raises(ConfigError, match="number 2 translates tr to fi and number 1 fi to tr: leave one out"):
        TranslationPredictor.ensemble([there, back])


@pytest.fixture
def splitting(predictor: TranslationPredictor) -> TranslationPredictor:
    """The same, for running text."""
    return replace(predictor, splitter=Splitter("en", "en"))


PARAGRAPHS = ["The man walks. A dog sees the cat!", "", "  the tree ", "\n", "a man.\n\n\tThe house. The red cat."]


def test_running_text_is_split_and_translated(predictor: TranslationPredictor, splitting: TranslationPredictor) -> None:
    whole = ["The man walks.", "A dog sees the cat!", "the tree", "a man.", "The house.", "The red cat."]
    one, two, three, four, five, six = predictor.translate(whole, attention=True)
    found = splitting.translate_text(PARAGRAPHS, attention=True)
    first, last = f"{one.text} {two.text}", f"{four.text}\n\n\t{five.text} {six.text}"
    assert [t.text for t in found] == [first, "", f"  {three.text} ", "\n", last]
    assert found[0].score == one.score + two.score
    assert found[0].finished == (one.finished and two.finished)
    assert found[0].sentences == (one, two) and found[2].sentences == ()
    assert same(replace(found[2], text=three.text), three)


def test_links_of_running_text_are_those_of_its_sentences_moved_to_their_words(splitting: TranslationPredictor) -> None:
    [found] = splitting.translate_text([PARAGRAPHS[4]], attention=True)
    expected, sources, targets = set(), 0, 0
    for part, source in zip(found.sentences, ["a man.", "The house.", "The red cat."], strict=True):
        expected |= {(sources + i, targets + j) for i, j in part.links()}
        sources, targets = sources + len(source.split()), targets + len(part.text.split())
    assert found.links() == expected != set()
    assert all(i < sources and j < max(1, targets) for i, j in found.links())


@pytest.mark.parametrize("space", ["", " ", " \n", "\t", "\u00a0", "\u3000"])
def test_words_of_running_text_are_those_between_its_spaces(predictor: TranslationPredictor, space: str) -> None:
    one, two = predictor.translate(["a man", "the dog"], attention=True)
    joined = Translation.join(f"{one.text}{space}{two.text}", [one, two], [(space, space)])
    pieces = joined.source_pieces[:-1]
    assert len(set(words_of(pieces))) == len(words_between_spaces(f"a man{space}the dog"))
    assert "".join(pieces) == f"▁a▁man{'▁' if ' ' in space else ''}the▁dog"


def test_alternatives_of_running_text_are_the_best_that_its_sentences_make(splitting: TranslationPredictor) -> None:
    [found] = splitting.translate_text([PARAGRAPHS[0]], beam=6, alternatives=4)
    parts = splitting.translate(Splitter("en", "en").split(PARAGRAPHS[0]).sentences, beam=6, alternatives=4)
    assert len(parts) > 1 and len(found.alternatives) == 4
    every = product(*([one, *one.alternatives] for one in parts))
    best = sorted((sum(one.score for one in chosen) for chosen in every), reverse=True)[:5]
    assert [one.score for one in (found, *found.alternatives)] == pytest.approx(best)
    assert [one.rank for one in (found, *found.alternatives)] == pytest.approx(best)
    assert len({one.text for one in (found, *found.alternatives)}) == 5


SEARCHES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "n-best": {"beam": 6, "alternatives": 5},
    "per token": {"beam": 4, "per_token": True, "alternatives": 2},
    "coverage": {"beam": 4, "length_penalty": 0.6, "coverage_penalty": 0.2, "alternatives": 2},
    "diverse": {"beam": 6, "groups": 3, "alternatives": 5},
    "restrained": {"beam": 4, "min_length": 5, "no_repeat_ngram": 2, "alternatives": 1},
    "samples": {"sampling": Sampling(seed=3), "alternatives": 3},
    "sampled from few": {"sampling": Sampling(0.8, 5, 0.9), "alternatives": 5},
    "minimum risk": {"beam": 6, "minimum_risk": 6, "alternatives": 1},
    "minimum risk of samples": {"sampling": Sampling(seed=3), "minimum_risk": 5, "alternatives": 4},
}


def read(found: Translation) -> list[tuple[str, float, float]]:
    return [(one.text, one.score, one.rank) for one in (found, *found.alternatives)]


@pytest.mark.parametrize("name", SEARCHES)
def test_results_depend_on_the_sentence_alone_with_forced_scores(predictor: TranslationPredictor, name: str) -> None:
    texts, asked, compared = sentences(4, most=8, seed=27), SEARCHES[name], 0
    together = predictor.translate(texts, attention=True, **asked)
    turned = predictor.translate(texts[::-1], attention=True, **asked)[::-1]
    [alone] = predictor.translate(texts[3:4], attention=True, **asked)
    for one, found in [*zip(turned, together, strict=True), (alone, together[3])]:
        assert same(one, found) and read(one) == read(found)
        assert all(map(same, one.alternatives, found.alternatives))
    assert any(one.alternatives for one in together) or "alternatives" not in asked
    for text, found in zip(texts, together, strict=True):
        for one in (found, *found.alternatives):
            [forced] = predictor.score_pairs([text], [one.text], attention=True)
            if one.finished and forced.target_pieces == one.target_pieces:  # a text can be segmented in other ways
                assert forced.score == pytest.approx(one.score, rel=1e-9)
                assert forced.links() == one.links()
                compared += 1
    assert compared > 0


def test_the_n_best_are_those_of_the_whole_beam(predictor: TranslationPredictor) -> None:
    texts = sentences(5, most=8, seed=23)
    many = predictor.translate(texts, beam=5, alternatives=30)
    for found in map(read, many):
        listed, scores, _ = zip(*found, strict=True)
        assert len(set(listed)) == len(listed) and list(scores) == sorted(scores, reverse=True)
    assert any(one.alternatives for one in many)
    for n in 1, 3, 10:
        few = predictor.translate(texts, beam=5, alternatives=n)
        assert [read(one) for one in few] == [read(one)[: n + 1] for one in many]


def test_minimum_risk_takes_the_greatest_expected_chrf(predictor: TranslationPredictor) -> None:
    texts, others = sentences(10, most=8, seed=24), 0
    plain = predictor.translate(texts, beam=6, alternatives=5)
    for found, listed in zip(predictor.translate(texts, beam=6, minimum_risk=6, alternatives=5), plain, strict=True):
        every = [listed, *listed.alternatives]
        gains = expected_chrf([one.text for one in every], probabilities([one.score for one in every]))
        assert found.rank == pytest.approx(max(gains)) and found.text == every[gains.index(max(gains))].text
        others += found.text != listed.text
        ranks = [one.rank for one in (found, *found.alternatives)]
        assert ranks == sorted(ranks, reverse=True)
    assert others


def test_minimum_risk_weighs_samples_by_how_often_they_were_drawn(predictor: TranslationPredictor) -> None:
    texts, count, weighed = sentences(12, most=8, seed=28), 6, 0
    drawn = {"sampling": Sampling(0.2, seed=4), "alternatives": count - 1}
    sampled = predictor.translate(texts, **drawn)
    for found, plain in zip(predictor.translate(texts, minimum_risk=count, **drawn), sampled, strict=True):
        ranks = {one.text: one.rank for one in (found, *found.alternatives)}
        listed = [one.text for one in (plain, *plain.alternatives)]
        assert sorted(listed) == sorted(ranks)
        # every way in which the texts may have been drawn: the one that was gives their expected chrF
        ways = [of for of in product(range(1, count + 1), repeat=len(listed)) if sum(of) == count]
        gains = {of: expected_chrf(listed, of) for of in ways}
        right = [of for of, gain in gains.items() if gain == pytest.approx([ranks[text] for text in listed])]
        assert right and found.rank == max(ranks.values())
        weighed += len({*right[0]}) > 1
    assert weighed


def test_samples_differ_by_seed_and_number(predictor: TranslationPredictor) -> None:
    texts = sentences(3, most=8, seed=25)
    one, other = (predictor.translate(texts, sampling=Sampling(seed=seed), alternatives=4) for seed in (1, 2))
    assert all(len(found.alternatives) >= 3 for found in one)
    assert [found.text for found in one] != [found.text for found in other]
    first = predictor.translate(texts, sampling=Sampling(seed=1))
    assert [found.text for found in first] == [found.text for found in one]


def test_a_refused_line_keeps_its_place_and_the_others_come_out(predictor: TranslationPredictor) -> None:
    lines = ["the man walks", "a " * 60, "", "a dog", "a " * 10_001, "the end"]
    refused: list[tuple[int, AnaphoraError]] = []
    options = SearchOptions(beam=2, max_tokens=30)
    found = list(predictor.stream(lines, options, split=False, refused=lambda *refusal: refused.append(refusal)))
    assert [number for number, _ in refused] == [2, 5]
    assert all(f"Line {number} should have at most 30 tokens" in str(error) for number, error in refused)
    assert [one.text for one in found][1::3] == ["", ""]
    kept = [line for number, line in enumerate(lines, 1) if number not in (2, 5)]
    expected = predictor.translate(kept, options)
    assert [one for number, one in enumerate(found, 1) if number not in (2, 5)] == expected
    with pytest.raises(DataError, match="Line 2 should have at most 30 tokens"):
        predictor.translate(lines, options)


def test_the_expected_chrf_is_the_weighted_mean_over_all_texts() -> None:
    texts, weights = ["the man walks", "the man walked", "a dog"], [0.5, 0.3, 0.2]
    for text, gain in zip(texts, expected_chrf(texts, weights), strict=True):
        scores = [CHRF().sentence_score(text, [other]).score for other in texts]
        assert gain == pytest.approx(sum(w * s for w, s in zip(weights, scores, strict=True)))
    # the text that is most like the others wins over the most probable one
    dog, *walking = expected_chrf(["a dog", "the man walks", "the man walked"], [0.4, 0.3, 0.3])
    assert dog < max(walking)
    assert expected_chrf(["", "a"], [1.0, 1.0]) == pytest.approx([0.0, 50.0], abs=1e-6)


def test_probabilities_are_those_of_the_scores() -> None:
    first, second, third = probabilities([log(0.1), log(0.2), -inf])
    assert second == 1.0 and first == pytest.approx(0.5) and third == 0.0
    assert probabilities([-inf, -inf]) == [1.0, 1.0]
    assert probabilities([-2000.0, -2001.0])[1] > 0
