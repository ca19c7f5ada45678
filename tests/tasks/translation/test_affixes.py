"""Translations begin with their prefixes and end with their suffixes, from any translator."""

import re
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.options import SearchOptions
from anaphora.search.sampling import Sampling
from anaphora.tasks.translation import Framed, Translation, TranslationPredictor
from anaphora.text.placeholders import is_glued

from ..conftest import sentences
from .test_protection import TOKENIZERS, untrained, words
from .test_required_terms import WHOLE, glossary
from .test_searches import SEARCHES, read

TEXTS = [*sentences(9, seed=31), "a man {name} <b>sees</b> {other} the dog"]
PREFIXES = ["", *sentences(9, most=5, seed=32)]
SUFFIXES = ["", *sentences(8, most=4, seed=33), "the tree."]


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_translation_begins_with_the_words_of_its_prefix_from_any_translator(name: str, attends: bool) -> None:
    texts, prefixes = TEXTS[-4:], PREFIXES[-4:]
    found = untrained(TOKENIZERS[name](), attends).translate(texts, prefixes=prefixes, beam=3, alternatives=1)
    for prefix, one in zip(prefixes, found, strict=True):
        check_begins(one, prefix)
    assert "{name}" in found[-1].text and "{other}" in found[-1].text


@pytest.mark.parametrize("search", SEARCHES)
def test_a_translation_begins_with_the_words_of_its_prefix_under_every_search(search: str) -> None:
    found = untrained(TOKENIZERS["subwords"]()).translate(TEXTS, prefixes=PREFIXES, **SEARCHES[search])
    for prefix, one in zip(PREFIXES, found, strict=True):
        check_begins(one, prefix)


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_translation_ends_with_its_suffix_behind_a_prefix_from_any_translator(name: str, attends: bool) -> None:
    texts, prefixes, suffixes = TEXTS[-4:], ["", *PREFIXES[-3:]], [".", *SUFFIXES[-3:]]
    translator = untrained(TOKENIZERS[name](), attends)
    if name == "words between spaces":
        suffixes[0], suffixes[-1] = "the tree", "a tree"
    found = translator.translate(texts, prefixes=prefixes, suffixes=suffixes, beam=4, alternatives=1)
    for prefix, suffix, one in zip(prefixes, suffixes, found, strict=True):
        check_begins(one, prefix)
        for other in (one, *one.alternatives):
            written = re.sub("</?b>", "", other.text)
            assert other.finished and written.endswith(suffix), (written, suffix)
            assert suffix == "." or not is_glued(written[: -len(suffix)][-1:])
    assert "{name}" in found[-1].text and "{other}" in found[-1].text


def test_what_ends_with_a_suffix_does_not_depend_on_the_batch(untrained_translator: TranslationPredictor) -> None:
    translate = untrained_translator.translate
    texts, suffixes = TEXTS[:6], SUFFIXES[:6]
    together = [read(one) for one in translate(texts, suffixes=suffixes, beam=5, alternatives=2)]
    for place in 0, 3, 5:
        [alone] = translate([texts[place]], suffixes=[suffixes[place]], beam=5, alternatives=2)
        assert read(alone) == together[place]
    assert read(translate(texts[:1], beam=5, alternatives=2)[0]) == together[0]


def test_terms_are_written_before_a_suffix(tmp_path: Path) -> None:
    terms = glossary(tmp_path, "dog\tred tree\nman\tcat | !house\n")
    found = untrained(TOKENIZERS["subwords"]()).translate(
        ["a dog and a man", "a {name} dog"], suffixes=["sees the tree.", "walks"], beam=4, terms=terms
    )
    assert found[0].text.endswith(" sees the tree.") and "red tree" in found[0].text and " cat" in found[0].text
    assert found[1].text.endswith(" walks") and "red tree" in found[1].text and "{name}" in found[1].text


def test_a_suffix_is_that_of_the_last_sentence_of_a_line() -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    line = "The man walks. A dog sees the cat."
    [plain] = translator.translate_text([line], beam=3)
    [found] = translator.translate_text([line], suffixes=["the tree"], beam=3)
    assert found.text.endswith(" the tree")
    assert [one.text for one in found.sentences[:-1]] == [one.text for one in plain.sentences[:-1]]


@pytest.mark.parametrize(
    "asked",
    [
        {"sampling": Sampling()},
        {"groups": 2},
        {"no_repeat_ngram": 2},
        {"min_length": 3},
        {"candidates": Candidates({})},
    ],
    ids=str,
)
def test_suffixes_do_not_go_with_searches_that_could_not_write_them(asked: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="or suffixes"):
        untrained(words("joiner")).translate(["a man"], suffixes=["the cat"], **asked)


def check_begins(found: Translation, prefix: str) -> None:
    for one in (found, *found.alternatives):
        written = re.sub("</?b>", "", one.text)
        assert written.startswith(prefix), (written, prefix)
        assert not prefix or not is_glued(written[len(prefix) : len(prefix) + 1]), (written, prefix)


@pytest.mark.parametrize("search", SEARCHES)
def test_what_begins_with_a_prefix_does_not_depend_on_the_batch(
    untrained_translator: TranslationPredictor, search: str
) -> None:
    asked, translate = SEARCHES[search], untrained_translator.translate
    together = [read(one) for one in translate(TEXTS, prefixes=PREFIXES, **asked)]
    for place in 0, 4, 9:
        assert read(translate([TEXTS[place]], prefixes=[PREFIXES[place]], **asked)[0]) == together[place]
    assert read(translate(TEXTS[:1], **asked)[0]) == together[0]


def test_a_prefix_is_scored_by_the_model(untrained_translator: TranslationPredictor) -> None:
    texts, prefixes = TEXTS[:-1], PREFIXES[:-1]
    found = untrained_translator.translate(texts, prefixes=prefixes, beam=3, attention=True)
    compared = 0
    for text, one in zip(texts, found, strict=True):
        [forced] = untrained_translator.score_pairs([text], [one.text], attention=True)
        if one.finished and forced.target_pieces == one.target_pieces:  # a text can be segmented in other ways
            assert forced.score == pytest.approx(one.score, rel=1e-9)
            compared += 1
    assert compared > 3


def test_what_a_translator_writes_anyway_is_a_prefix_that_changes_nothing(
    untrained_translator: TranslationPredictor,
) -> None:
    free = untrained_translator.translate(TEXTS[:-1], beam=1)
    begun = [" ".join(one.text.split()[:3]) for one in free]
    for one, again in zip(free, untrained_translator.translate(TEXTS[:-1], prefixes=begun, beam=1), strict=True):
        assert again.text.split()[:3] == one.text.split()[:3]


def test_a_prefix_may_have_words_that_are_no_candidates() -> None:
    translator = untrained(words("joiner"))
    [found] = translator.translate(["a man"], prefixes=["the tree sees"], beam=3, candidates=Candidates({}, 3, 1))
    assert found.text.startswith("the tree sees")


def test_terms_are_written_behind_a_prefix_or_are_in_it(tmp_path: Path) -> None:
    terms = glossary(tmp_path, "dog\tred tree\nman\tcat\n")
    found = untrained(TOKENIZERS["subwords"]()).translate(
        ["a dog and a man"] * 2, prefixes=["the red tree walks", "the house red"], beam=4, terms=terms
    )
    assert found[0].text.startswith("the red tree walks") and " cat" in found[0].text
    assert found[1].text.startswith("the house red") and "red tree" in found[1].text and " cat" in found[1].text


def test_a_prefix_is_that_of_the_first_sentence_of_a_line() -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    line = "The man walks. A dog sees the cat."
    [plain] = translator.translate_text([line], beam=2)
    [found] = translator.translate_text([line], prefixes=["the tree"], beam=2)
    assert found.text.startswith("the tree")
    assert [one.text for one in found.sentences[1:]] == [one.text for one in plain.sentences[1:]]


REFUSED: dict[str, tuple[Framed, str]] = {
    "outside the vocabulary": (Framed("a dog", "the zebra"), r"Line 2 has a prefix with 'zebra', which is outside"),
    "too long": (Framed("a dog", "the cat " * 20), r"Line 2 has a prefix of 40 tokens, but .* room for \d+ beside"),
    "missing": (Framed("a dog", None), r"Line 2 has no prefix"),
    "nothing to begin": (Framed("  ", "the cat"), r"Line 2 has the prefix 'the cat', but nothing to translate"),
    "kept alone": (Framed("{name}", "the cat"), r"Line 2 has the prefix 'the cat', but nothing to translate"),
    "kept inside": (Framed("a dog {name}", "the {name}"), r"Line 2 has a prefix with '\{name\}'"),
    "suffix outside the vocabulary": (
        Framed("a dog", "", "zebra."),
        r"Line 2 has a suffix with 'zebra', which is outs",
    ),
    "both too long": (
        Framed("a dog", "the cat " * 5, "the cat " * 5),
        r"Line 2 has a prefix and a suffix of 20 tokens, but .* room for \d+ beside",
    ),
    "suffix missing": (Framed("a dog", "", None), r"Line 2 has no suffix"),
    "nothing to end": (Framed("", "", "the cat"), r"Line 2 has the suffix 'the cat', but nothing to translate"),
    "suffix forbidden": (Framed("a man", "", "the house"), r"Line 2 has a suffix with a term that is forbidden"),
    "forbidden": (Framed("a man", "the house"), r"Line 2 has a prefix with a term that is forbidden .*terms.tsv:1"),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_a_prefix_that_cannot_be_is_refused_by_line_and_the_other_lines_come_out(fault: str, tmp_path: Path) -> None:
    line, said = REFUSED[fault]
    translator, refused = untrained(words("joiner")), list[tuple[int, str]]()
    options = SearchOptions(2, terms=glossary(tmp_path, "man\t!house\n"), suffixes=True)

    def refuse(number: int, error: AnaphoraError) -> None:
        refused.append((number, str(error)))

    lines = [Framed("a cat", "the man"), line, "the man"]
    found = list(translator.stream(lines, options, refused=refuse))
    [(number, message)] = refused
    assert number == 2 and re.search(said, message)
    assert found[1].text == "" and found[0].text.startswith("the man") and found[2].text


def test_every_text_has_a_prefix_or_none_has() -> None:
    with pytest.raises(DataError, match="2 texts and 1 prefix: give as many"):
        untrained(words("joiner")).translate(["a", "the"], prefixes=["a"])
    with pytest.raises(TypeError):
        untrained(words("joiner")).translate(["a"], prefixes="a")
    with pytest.raises(ConfigError, match="give them suffixes=True"):
        list(untrained(words("joiner")).stream([Framed("a", "", "the")]))


def test_prefixes_of_words_that_are_annotated_are_refused() -> None:
    with pytest.raises(anaphora.AnaphoraError, match="posall"):
        _annotated().translate(["a man"], prefixes=["the cat"], sampling=Sampling())


def _annotated() -> Any:
    from anaphora.text.rare_word_annotation import AnnotatedTokenizer, annotations

    plain = words("joiner")
    annotated = type(plain)([*annotations("posall"), *plain.vocabulary], **plain.options)
    target = AnnotatedTokenizer(annotated, "posall", {})
    translator = untrained(target)
    translator.source = plain
    return translator
