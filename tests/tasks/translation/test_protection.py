"""What may not change comes back, each thing exactly once, from any translator."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import anaphora
from anaphora.batch import Batch
from anaphora.cli.app import main
from anaphora.errors import ConfigError
from anaphora.prediction.options import SearchOptions
from anaphora.protocols import Array, SearchStart, Step
from anaphora.samples.english_french import write
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Translation
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.placeholders import RESERVED
from anaphora.text.segmentation import Segmentation
from anaphora.text.sentences import Splitter
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer
from tests.networks import build

from ..conftest import TRANSLATOR, same, sentences
from .segments import Segment, segments

TEXT = [f"{line}." for line in sentences(300)]


def words(segmentation: Segmentation, size: int = 40) -> WordTokenizer:
    return WordTokenizer.learn(TEXT, size=size, least=1, lowercase=False, segmentation=segmentation, language="en")


RESERVING = [*TEXT, *(f"the {word} sees {word}." for word in RESERVED for _ in range(20))]

TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "subwords with reserved ones": lambda: SubwordTokenizer.learn(
        RESERVING, size=400, lowercase=False, byte_fallback=True
    ),
    "subwords": lambda: SubwordTokenizer.learn(TEXT, size=330, lowercase=False, byte_fallback=True),
    "small subwords, lower-cased": lambda: SubwordTokenizer.learn(TEXT, size=40, lowercase=True, byte_fallback=False),
    "words": lambda: words("joiner"),
    "few words": lambda: words("joiner", 12),
    "Moses words": lambda: words("moses"),
    "words between spaces": lambda: words("whitespace"),
    "characters": lambda: CharacterTokenizer.learn(TEXT, lowercase=False, least=1),
    "few characters": lambda: CharacterTokenizer.learn(["ab. "], lowercase=False, least=1),
    "bytes": lambda: ByteTokenizer(lowercase=False),
}


def untrained(tokenizer: Tokenizer, attends: bool = True) -> TranslationPredictor:
    tables: dict[str, Any] = dict(TRANSLATOR)
    if not attends:
        tables |= {"attention": "none", "decoder": {**tables["decoder"], "sentence_encoding": "initial-state"}}
    model: Any = build("translate", tables, {"source": tokenizer.symbols, "target": tokenizer.symbols})
    model.initialise(3)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3.0)
    return TranslationPredictor(model.stepper, tokenizer, tokenizer, splitter=Splitter("en", "de"))


def lost(segment: Segment, translation: Translation) -> list[str]:
    """What did not come back exactly once, closing tags included."""
    closing = re.compile(r"</[\w:]+>")
    once = [text for text in segment.kept if translation.text.count(text) != 1]
    closed, expected = (Counter(closing.findall(text)) for text in (translation.text, segment.text))
    return [*once, *(closed - expected), *(expected - closed)]


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_everything_comes_back_once_from_untrained_translators_of_any_tokens_alone_and_in_any_batch(
    name: str, attends: bool
) -> None:
    translator = untrained(TOKENIZERS[name](), attends)
    given = [*segments(8, seed=1), Segment("the hou<b>s</b>e walks", ("<b>",))]
    found = translator.translate_text([one.text for one in given], beam=2, attention=True, alternatives=1)
    for segment, translation in zip(given, found, strict=True):
        assert [lost(segment, one) for one in (translation, *translation.alternatives)] in ([[]], [[], []])
        if attends:
            pieces = {piece for part in translation.sentences or [translation] for piece in part.source_pieces}
            assert all(i < len(segment.text.split()) for i, _ in translation.links()) or "<unk>" in pieces
        for part in translation.sentences or [translation]:
            if part.weights is not None:
                assert part.weights.shape == (len(part.target_pieces), len(part.source_pieces))
    for segment, translation in zip(given[2:4], found[2:4], strict=True):
        [alone] = translator.translate_text([segment.text], beam=2, attention=True, alternatives=1)
        assert alone == translation if translation.weights is None else same(alone, translation)


def test_what_has_no_word_is_not_searched_and_each_of_its_words_is_linked_to_itself() -> None:
    [found] = untrained(TOKENIZERS["subwords"]()).translate(["{a} %s"], attention=True)
    assert found.text == "{a} %s" and found.score == 0.0 and found.links() == {(0, 0), (1, 1)}
    signs = ["\U0001f600", "...", "\u00bf?! \u2014", "\u2764\ufe0f"]
    assert [one.text for one in untrained(TOKENIZERS["subwords"]()).translate(signs)] == signs


def test_nothing_is_kept_that_nobody_asked_for() -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    text = "the man <b>sees</b> {name} 15"
    plain = [translator.translate([text], protect=protect)[0].text for protect in ((), ("urls",))]
    assert plain[0] == plain[1] and "{name}" not in plain[0]
    kept = translator.translate([text], protect=("placeholders", "numbers"))[0].text
    assert "{name}" in kept and "15" in kept and "<b>" not in kept
    with pytest.raises(ConfigError, match="one is 'digits'"):
        translator.translate([text], protect=("digits",))


def test_names_are_kept_where_a_call_or_the_run_asks_for_it() -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    text = "the man sees Ana Ruiz and {name}"
    for kept in (translator, replace(translator, protect=("names",))):
        asked = {None: kept is not translator, (): False, ("names",): True}
        for protect, found in asked.items():
            assert ("Ana Ruiz" in kept.translate([text], protect=protect)[0].text) == found
            assert ("{name}" in kept.translate([text], protect=protect)[0].text) == (protect is None)


def test_no_reserved_word_is_written_with_placeholders_or_without() -> None:
    translator = untrained(TOKENIZERS["subwords with reserved ones"]())
    texts = [*(one.text for one in segments(8, seed=4)), *TEXT[:4]]
    for protect in (None, ()):
        for found in translator.translate(texts, beam=2, alternatives=1, protect=protect):
            assert set(RESERVED).isdisjoint(found.text) and found.score > -torch.inf


LITERAL = [*TEXT, *(f"the man {a} {{{b}}} sees %s." for a in "ab" for b in "ab" for _ in range(60))]


@pytest.mark.parametrize(
    "tokenizer",
    [
        SubwordTokenizer.learn(LITERAL, size=330, lowercase=False, byte_fallback=True),
        WordTokenizer.learn(LITERAL, size=12, least=1, lowercase=False, segmentation="whitespace", language="en"),
        CharacterTokenizer.learn(["{a} %s <b>."], lowercase=False, least=1),
    ],
    ids=["subwords", "words", "characters"],
)
def test_a_translator_that_has_learnt_placeholders_writes_none_a_second_time(tokenizer: Tokenizer) -> None:
    translator = untrained(tokenizer)
    texts = [f"the man {a} sees %s {{{b}}}" for a in ("", "is") for b in "ab"]
    for text, found in zip(texts, translator.translate(texts, beam=4, alternatives=3), strict=True):
        for one in (found, *found.alternatives):
            assert [one.text.count(kept) for kept in text.split() if kept[0] in "{%"] == [1, 1], one.text


class Copying:
    """A model without attention that copies the words it has learnt, and leaves out the others."""

    normalised = True

    def __init__(self, tokenizer: Tokenizer, learnt: str, backwards: bool = False) -> None:
        symbols = tokenizer.symbols
        self.size, self.bos, self.eos, self.unk = symbols.size, symbols.bos, symbols.eos, symbols.unk
        self._learnt, self._order = set(tokenizer.encode(learnt)), -1 if backwards else 1

    def start(self, batch: Batch) -> SearchStart:
        rows = [
            [token for token in row if token in self._learnt][:: self._order] for row in batch.input_ids.ids_BT.tolist()
        ]
        memory = np.array([(row + [self.eos] * 40)[:40] for row in rows])
        return SearchStart(memory, np.zeros(len(rows), np.int64), batch.input_ids.lengths_B)

    def advance(self, memory: Array, state: Array, ids_N: Array) -> Step:
        rows_N = np.arange(len(ids_N)) // (len(ids_N) // len(memory))
        log_probs_NV = np.full((len(ids_N), self.size), -20.0, np.float32)
        log_probs_NV[np.arange(len(ids_N)), memory[rows_N, np.minimum(state, 39)]] = 0.0
        return Step(log_probs_NV, None, state + 1)

    def select(self, state: Array, rows_N: Array) -> Array:
        return state[rows_N]

    def keep(self, memory: Array, sentences_B: Array) -> Array:
        return memory[sentences_B]


@pytest.mark.parametrize("backwards", [False, True])
def test_tags_that_a_translator_has_learnt_stay_where_it_puts_them_if_they_are_well_nested(backwards: bool) -> None:
    text = "sees sees the <i> man </i> walks"
    tokenizer = WordTokenizer.learn([text], size=60, least=1, lowercase=False, segmentation="whitespace", language="en")
    learnt = text.replace("sees", "")
    translator = TranslationPredictor(lambda: Copying(tokenizer, learnt, backwards), tokenizer, tokenizer)
    [found] = translator.translate([text], beam=1)
    if backwards:  # it would write </i> man <i>
        assert found.text.index("<i>") < found.text.index("</i>")
    else:
        assert found.text == "the <i> man </i> walks"


def test_stand_ins_are_chosen_when_they_are_needed_and_anew_for_an_ensemble() -> None:
    translator = untrained(TOKENIZERS["words"]())
    translator.translate(["the man <b>sees</b> it"])
    assert "stand_ins" not in vars(translator)
    assert "{a}" in translator.translate(["the man sees {a}"])[0].text
    together = TranslationPredictor.ensemble([translator, translator])
    assert "stand_ins" in vars(translator) and "stand_ins" not in vars(together)
    assert "{a}" in together.translate(["the man sees {a}"])[0].text


@pytest.mark.parametrize("name", ["words", "subwords"])
def test_unknown_words_are_never_replaced_by_a_stand_in(name: str) -> None:
    translator = untrained(TOKENIZERS[name]())
    unknown = {} if name == "words" else None
    for translation in translator.translate(["the zebra {a} walks", "{b} zebra %s"], beam=2, replace_unknown=unknown):
        assert "Xqzvk" not in translation.text


@pytest.mark.slow
@pytest.mark.parametrize("of_words", [False, True], ids=["characters", "words"])
def test_everything_comes_back_from_a_trained_translator_over_ten_thousand_segments(
    of_words: bool, tiny_translator: Path, tiny_translator_of_words: Path, tmp_path: Path
) -> None:
    size = "training.batch_tokens=1000"
    recipe = str(tiny_translator_of_words if of_words else tiny_translator)
    data, run = str(write(tmp_path / "data", train=300, valid=20, test=20)), str(tmp_path / "run")
    assert main(["train", recipe, "--data", data, "--source", "en", "--target", "fr", "--run", run, "--set", size]) == 0
    given = segments(10_000, seed=38)
    translator = anaphora.load(run)
    assert isinstance(translator, TranslationPredictor)
    found = translator.stream([one.text for one in given], SearchOptions(2))
    assert not [(one, left) for one, translation in zip(given, found, strict=True) if (left := lost(one, translation))]
