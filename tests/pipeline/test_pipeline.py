"""The pipeline over small untrained networks: what it promises holds for any weights."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from anaphora.batch import Batch, Ids
from anaphora.errors import ConfigError, DataError, RunError
from anaphora.evaluation.perplexity import TextSize, size_of_line
from anaphora.events import Event, Progress
from anaphora.pipeline import LanguageModel, Translation, Translator, load, longest

from .conftest import LANGUAGE_MODEL, TRANSLATOR, network, same, saved, sentences


@pytest.mark.parametrize("beam", [1, 5])
def test_a_translation_does_not_depend_on_the_batch(translator: Translator, beam: int) -> None:
    texts = sentences(40, seed=1)
    together = translator.translate(texts, beam=beam, alternatives=3)
    assert any(t.finished and t.text for t in together)
    for text, translation in zip(texts, together, strict=True):
        assert same(translator.translate([text], beam=beam, alternatives=3)[0], translation)
    shuffled = random.Random(0).sample(range(40), 40)
    again = translator.translate([texts[place] for place in shuffled], beam=beam, alternatives=3)
    assert all(same(again[rank], together[place]) for rank, place in enumerate(shuffled))


def test_the_score_of_a_translation_is_its_score_under_forced_decoding(translator: Translator) -> None:
    texts = sentences(40, seed=2)
    found = [t for t in translator.translate(texts, beam=5) if t.finished]
    by_source = {t.source_pieces: t for t in found}
    pairs = [(text, t) for text, t in zip(texts, translator.translate(texts, beam=5), strict=True) if t.finished]
    scored = translator.score_pairs([text for text, _ in pairs], [t.text for _, t in pairs])
    compared = 0
    for given, (_, translation) in zip(scored, pairs, strict=True):
        if given.target_pieces == translation.target_pieces:  # a text can be cut in more than one way
            assert same(given, by_source[given.source_pieces])
            compared += 1
    assert compared > 5


def test_order_and_empty_texts_keep_their_places(translator: Translator) -> None:
    texts = ["", *sentences(3), "", "  ", "a man", ""]
    found = translator.translate(texts)
    assert [t.text == "" for t in found] == [
        True,
        *[t.text == "" for t in found[1:4]],
        True,
        True,
        found[6].text == "",
        True,
    ]
    for place in (0, 4, 5, 7):
        assert found[place] == Translation("", 0.0, True, (), (), None)
        assert found[place].links() == frozenset()
    assert same(found[6], translator.translate(["a man"])[0])


def test_nothing_to_translate_is_no_error(translator: Translator) -> None:
    assert translator.translate([]) == []
    assert translator.score_pairs([], []) == []
    assert [t.text for t in translator.translate(["", ""])] == ["", ""]


def test_attention_fits_the_pieces(translator: Translator) -> None:
    for translation in translator.translate(sentences(20, seed=4)):
        assert translation.weights is not None
        assert translation.weights.shape == (len(translation.target_pieces), len(translation.source_pieces))
        assert np.allclose(translation.weights.sum(axis=1), 1.0, atol=1e-5)
        assert translation.source_pieces[-1] == "</s>"
        assert (translation.target_pieces[-1:] == ("</s>",)) == translation.finished


def test_links_are_between_words_that_are_there(translator: Translator) -> None:
    texts = sentences(20, seed=5)
    for text, translation in zip(texts, translator.translate(texts), strict=True):
        source, target = len(text.split()), len(translation.text.split())
        assert all(i < source and j < max(target, 1) for i, j in translation.links())


def test_alternatives_are_other_texts_in_order(translator: Translator) -> None:
    found = translator.translate(sentences(20, seed=6), beam=8, alternatives=4)
    assert any(t.alternatives for t in found)
    for translation in found:
        texts = [translation.text, *(other.text for other in translation.alternatives)]
        scores = [translation.score, *(other.score for other in translation.alternatives)]
        assert len(set(texts)) == len(texts) <= 5
        assert scores == sorted(scores, reverse=True)


def test_progress_ends_with_every_sentence_done(translator: Translator) -> None:
    events: list[Event] = []
    translator.translate(["", *sentences(30)], report=events.append)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done) and done[-1] == 31


def test_one_text_in_place_of_a_list_is_refused(translator: Translator) -> None:
    with pytest.raises(TypeError, match="put it into a list"):
        translator.translate("a man")
    with pytest.raises(TypeError, match="number 3 of them is of type float"):
        translator.translate(["a man", "", float("nan")])  # type: ignore[list-item]


def test_pairs_of_unequal_counts_are_refused(translator: Translator) -> None:
    with pytest.raises(DataError, match="2 sources and 1 translations"):
        translator.score_pairs(["a", "b"], ["a"])


def test_a_line_that_is_too_long_for_a_sentence_is_refused_before_any_other_is_translated(
    translator: Translator,
) -> None:
    endless, events = "a " * 10_001, list[Event]()
    for call in (
        lambda: translator.translate(["a man", endless], report=events.append),
        lambda: translator.translate_text(["a man", endless], report=events.append),
        lambda: translator.score_pairs(["a man", endless], ["a", "a"], report=events.append),
        lambda: translator.align(["a", "a"], ["a man", endless], report=events.append),
    ):
        with pytest.raises(DataError, match=r"Line 2 should have at most 10,000 units, but has \d\d,\d{3}: split it"):
            call()
    assert not events


@pytest.mark.parametrize("beam", [-1, 0, 1001, 100_000])
def test_a_beam_of_none_or_of_more_than_memory_holds_is_refused(
    translator: Translator, language_model: LanguageModel, beam: int
) -> None:
    complaint = f"should be at least 1 and at most 1,000, .* but is {beam:,}: change it"
    with pytest.raises(ConfigError, match=complaint):
        translator.translate(["a man"], beam=beam)
    if beam:
        with pytest.raises(ConfigError, match=complaint):
            language_model.generate("the", beam=beam, on_text=pytest.fail)


def test_the_wider_a_beam_the_fewer_sentences_are_searched_side_by_side(translator: Translator) -> None:
    rows: list[int] = []

    class Counting:
        """A Stepper that notes how many sentences it is started with."""

        def __init__(self) -> None:
            self._stepper = translator._stepper()

        def __getattr__(self, name: str) -> object:
            return getattr(self._stepper, name)

        def start(self, batch: Batch) -> object:
            rows.append(batch.size)
            return self._stepper.start(batch)

    counted = Translator(Counting, translator._source, translator._target)  # type: ignore[arg-type]
    texts, side_by_side = ["a man"] * 20, {}
    for beam in (1, 32, 256):
        rows.clear()
        counted.translate(texts, beam=beam)
        side_by_side[beam] = max(rows)
    assert side_by_side == {1: 20, 32: 20, 256: 16}


def test_a_translation_is_never_cut_before_thrice_a_short_source() -> None:
    assert longest(1) == 13
    assert longest(100) == 310
    assert longest(1000) == 2200
    assert all(longest(units) > 2 * units for units in range(1, 5000, 7))


def test_generation_goes_on_from_its_prompt(language_model: LanguageModel) -> None:
    for beam in (0, 1, 4):
        found = language_model.generate("the man", length=30, beam=beam)
        assert found.text.startswith("the man")
        assert found.finished or len(found.text) == len("the man") + 30
        assert found.score < 0


def test_a_prompt_may_have_several_lines_or_none(language_model: LanguageModel) -> None:
    assert language_model.generate("a man\nthe dog", length=5).text.startswith("a man\nthe dog")
    assert language_model.generate("a man\n", length=5).text.startswith("a man\n")
    assert len(language_model.generate(length=5, beam=1).text) <= 5


def test_the_same_seed_writes_the_same_text(language_model: LanguageModel) -> None:
    texts = [language_model.generate("the", seed=seed).text for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_length_of_none_is_refused(language_model: LanguageModel) -> None:
    with pytest.raises(ConfigError, match="at least 1 unit"):
        language_model.generate("the", length=0)


def test_a_text_is_predicted_in_one_pass_with_the_state_carried(language_model: LanguageModel) -> None:
    """The loss of a text is that of its units read one after another, windows or not."""
    lines = sentences(25, seed=7)
    model, coder = language_model._model, language_model._coder
    ids = [unit for line in lines for unit in [*coder.encode(line), coder.symbols.eos]]
    assert len(ids) > 1100
    stepper = model.stepper()
    nats, last = 0.0, coder.symbols.eos
    start = Batch(Ids(torch.tensor([[last]]), torch.tensor([1])), None, torch.tensor([0]), torch.tensor([False]))
    memory, state, _ = stepper.start(start)
    for unit in ids:
        step = stepper.advance(memory, state, torch.tensor([last]))
        nats -= float(step.log_probs_NV[0, unit])
        state, last = step.state, unit
    found = language_model.evaluate(iter(lines))
    assert found.tokens == len(ids) and found.unknown == 0
    assert found.nats == pytest.approx(nats, rel=1e-5)
    assert found.size == sum(map(size_of_line, lines), start=TextSize(0, 0, 0))
    assert found.bits_per_character == pytest.approx(
        nats / math.log(2) / sum(len(line) + 1 for line in lines), rel=1e-5
    )


def test_the_score_of_a_line_is_what_predicting_it_costs(language_model: LanguageModel) -> None:
    found = next(
        f for seed in range(100) if (f := language_model.generate("the", seed=seed)).finished and "\n" not in f.text
    )
    assert language_model.evaluate([found.text]).nats == pytest.approx(-found.score, rel=1e-5)


def test_unknown_units_are_counted(language_model: LanguageModel) -> None:
    assert language_model.evaluate(["the Ünknown", "man"]).unknown == 1


def test_a_text_without_lines_is_refused_and_an_empty_line_is_one_prediction(language_model: LanguageModel) -> None:
    with pytest.raises(DataError, match="there is no line"):
        language_model.evaluate([])
    assert language_model.evaluate([""]).tokens == 1


def test_a_saved_translator_translates_as_before(translator: Translator, tmp_path: Path) -> None:
    experiment = {"task": "translate", "text": {"units": "bpe", "size": 330}, **TRANSLATOR}
    saved(
        tmp_path / "run",
        experiment,
        network(translator),
        {"source": translator._source, "target": translator._target},
    )
    loaded = load(tmp_path / "run")
    assert isinstance(loaded, Translator)
    texts = sentences(12, seed=8)
    assert all(map(same, loaded.translate(texts), translator.translate(texts)))


def test_a_run_is_searched_as_its_experiment_says_unless_told_otherwise(translator: Translator, tmp_path: Path) -> None:
    text, own = {"units": "bpe", "size": 330}, {"beam": 2, "length_penalty": 1.5}
    experiment = {"task": "translate", "text": text, "evaluation": own, **TRANSLATOR}
    saved(
        tmp_path / "run",
        experiment,
        network(translator),
        {"source": translator._source, "target": translator._target},
    )
    loaded, texts = load(tmp_path / "run"), sentences(12, seed=8)
    assert isinstance(loaded, Translator)
    assert all(map(same, loaded.translate(texts), translator.translate(texts, beam=2, length_penalty=1.5)))
    assert all(map(same, loaded.translate(texts, beam=4), translator.translate(texts, beam=4, length_penalty=1.5)))
    assert all(map(same, loaded.translate(texts, length_penalty=0), translator.translate(texts, beam=2)))


def test_a_saved_language_model_writes_as_before(language_model: LanguageModel, tmp_path: Path) -> None:
    experiment = {"task": "language-model", "text": {"units": "character"}, **LANGUAGE_MODEL}
    saved(tmp_path / "run", experiment, language_model._model, {"text": language_model._coder})
    loaded = load(str(tmp_path / "run"))
    assert isinstance(loaded, LanguageModel) and loaded.path == bytes(tmp_path / "run")
    assert loaded.generate("the") == language_model.generate("the")
    assert loaded.evaluate(sentences(5)) == language_model.evaluate(sentences(5))


def test_a_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="nowhere"):
        load(tmp_path / "nowhere")


def test_translators_of_other_languages_are_no_ensemble_though_one_vocabulary_serves_both(
    translator: Translator,
) -> None:
    there, back = (
        Translator(translator._stepper, translator._source, translator._target, languages=languages)
        for languages in (("fi", "tr"), ("tr", "fi"))
    )
    with pytest.raises(ConfigError, match="number 2 translates tr to fi and number 1 fi to tr: leave one out"):
        Translator.ensemble([there, back])
