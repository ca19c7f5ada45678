"""What may not change comes back, each thing exactly once, from any translator."""

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import anaphora
from anaphora.batch import Batch
from anaphora.errors import ConfigError
from anaphora.models.translator import Translator
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
from tests.networks import made
from tests.search.naive import Automaton

from ..conftest import TRANSLATOR, WORDS, same, sentences, shown

TEXT = [f"{line}." for line in sentences(300)]


def words(segmentation: Segmentation, size: int = 40) -> WordTokenizer:
    return WordTokenizer.learn(TEXT, size=size, least=1, lowercase=False, segmentation=segmentation, language="en")


RESERVING = [*TEXT, *(f"the {word} sees {word}." for word in RESERVED for _ in range(20))]

TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "reserving subwords": lambda: SubwordTokenizer.learn(RESERVING, size=400, lowercase=False, byte_fallback=True),
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
    model = made(Translator, "translate", tables, tokenizer.symbols, factor=3.0)
    return TranslationPredictor(model.stepper, tokenizer, tokenizer, splitter=Splitter("en", "de"))


PLACEHOLDERS = (
    *("{{name{n}}}", "%({n})d", "%{n}$s", "[X{n}X]"),
    *("${{v{n}}}", "{{{{ user.n{n} }}}}", "{{{n}}}px", "%{n}d:%s{n}"),
)
ADDRESSES = ("https://example.org/{n}?a=b", "ftp://example{n}.org", "user{n}@example.org")
TAGS = ("b", "i", "a", "g", "x:ph")
SINGLE = ("<br id={n}>", "<br id='{n}'/>", '<img src="{n}" alt=" >"/>')
SIGNS = ("", "", "", ",", ".", "!", ":")


class Segment(NamedTuple):
    """A line, and what must come back."""

    text: str
    kept: tuple[str, ...]


def segment(draw: random.Random, most: int = 12) -> Segment:
    """A line of at most so many words and things that are kept, which may be glued to each other, but for addresses."""
    parts, kept, opened = list[str](), list[str](), list[tuple[str, int]]()
    for _ in range(draw.randint(1, most)):
        number = len(kept) * 10 + draw.randint(1, 9)
        kind = draw.random()
        if kind < 0.5:
            parts.append(draw.choice(WORDS) + draw.choice(SIGNS))
        elif kind < 0.64:
            parts.append(_kept(kept, draw.choice(PLACEHOLDERS).format(n=number)) + draw.choice(SIGNS[3:]))
        elif kind < 0.7:
            parts.append(f" {_kept(kept, draw.choice(ADDRESSES).format(n=number))} ")
        elif kind < 0.8:
            parts.append(_kept(kept, draw.choice(SINGLE).format(n=number)))
        elif kind < 0.9 or not opened:
            name = draw.choice(TAGS)
            opened.append((name, number))
            parts.append(_kept(kept, f'<{name} id="{number}">'))
        else:
            name, _ = opened.pop()
            parts.append(f"</{name}>")
        parts.append(draw.choice(("", " ", " ", " ", "  ")))
    parts += [f"</{name}>" for name, _ in reversed(opened)]
    return Segment("".join(parts), tuple(kept))


def _kept(kept: list[str], text: str) -> str:
    kept.append(text)
    return text


def segments(count: int, seed: int) -> list[Segment]:
    draw = random.Random(seed)
    return [segment(draw) for _ in range(count)]


def lost(segment: Segment, translation: Translation) -> list[str]:
    """What did not come back exactly once, closing tags included."""
    closing = re.compile(r"</[\w:]+>")
    once = [text for text in segment.kept if translation.text.count(text) != 1]
    closed, expected = (Counter(closing.findall(text)) for text in (translation.text, segment.text))
    return [*once, *(closed - expected), *(expected - closed)]


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_everything_comes_back_once_from_untrained_translators_in_any_batch(name: str, attends: bool) -> None:
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
    translator = untrained(TOKENIZERS["reserving subwords"]())
    texts = [*(one.text for one in segments(8, seed=4)), *TEXT[:4]]
    for protect in (None, ()):
        for found in translator.translate(texts, beam=2, alternatives=1, protect=protect):
            assert set(RESERVED).isdisjoint(found.text) and found.score > -np.inf


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


class Copying(Automaton):
    """A model without attention that copies the words it has learnt, and leaves out the others."""

    def __init__(self, tokenizer: Tokenizer, learnt: str, backwards: bool = False) -> None:
        symbols = tokenizer.symbols
        super().__init__(np.empty(0), symbols.size, False, symbols.bos, symbols.eos, symbols.unk)
        self._learnt, self._order = set(tokenizer.encode(learnt)), -1 if backwards else 1

    def start(self, batch: Batch) -> SearchStart:
        rows = [[one for one in row if one in self._learnt][:: self._order] for row in batch.input_ids.ids_BT.tolist()]
        memory = np.array([(row + [self.eos] * 40)[:40] for row in rows])
        return SearchStart(memory, np.zeros(len(rows), np.int64), batch.input_ids.lengths_B)

    def advance(self, memory: Array, state: Array, ids_N: Array) -> Step:
        rows_N = np.arange(len(ids_N)) // (len(ids_N) // len(memory))
        log_probs_NV = np.full((len(ids_N), self.size), -20.0, np.float32)
        log_probs_NV[np.arange(len(ids_N)), memory[rows_N, np.minimum(state, 39)]] = 0.0
        return Step(log_probs_NV, None, state + 1)


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
    recipe, run = tiny_translator_of_words if of_words else tiny_translator, tmp_path / "run"
    data = write(tmp_path / "data", train=300, valid=20, test=20)
    languages, size = ["--source", "en", "--target", "fr"], ["--set", "training.batch_tokens=1000"]
    shown("train", recipe, "--data", data, *languages, "--run", run, *size)
    given = segments(10_000, seed=38)
    translator = anaphora.load(run, kind=TranslationPredictor)
    found = translator.stream([one.text for one in given], SearchOptions(2))
    assert not [(one, left) for one, translation in zip(given, found, strict=True) if (left := lost(one, translation))]
