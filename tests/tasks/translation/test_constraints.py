"""Translations begin with their prefixes, end with their suffixes, and have their terms, from any translator."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.formats.glossary import read_glossary
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.sampling import Sampling
from anaphora.tasks.translation.constraints import Framed, RequiredTerm, SentenceRequest
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.term_places import TermPlaces
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unmasking import tokens_of
from anaphora.text.masking import MaskedText
from anaphora.text.placeholders import is_glued
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, annotations

from ..conftest import sentences
from .test_predictor import SEARCHES, read
from .test_protection import TOKENIZERS, untrained, words

TERMS = "dog\tred tree | small tree\nthe\tcat\nman\t!house | !woman\n*\t!takes\n"
WHOLE = [name for name in TOKENIZERS if not name.startswith(("few", "small"))]
TEXTS = [*sentences(5, most=7, seed=31), "a man {name} <b>sees</b> {other} the dog"]
PREFIXES = ["", *sentences(5, most=5, seed=32)]
SUFFIXES = [".", *sentences(4, most=4, seed=33), "the tree."]


def glossary(folder: Path, text: str) -> Glossary:
    (path := folder / "terms.tsv").write_text(text)
    return Glossary(read_glossary(path))


@pytest.mark.parametrize("search", ["greedy", "coverage", "diverse", "minimum risk of samples"])
def test_translations_begin_with_prefixes_in_any_search_and_batch(predictor: TranslationPredictor, search: str) -> None:
    asked, translate = SEARCHES[search], predictor.translate
    found = translate(TEXTS, prefixes=PREFIXES, **asked)
    for prefix, one in zip(PREFIXES, found, strict=True):
        check_begins(one, prefix)
    for place in 0, 3, 5:
        [alone] = translate([TEXTS[place]], prefixes=[PREFIXES[place]], **asked)
        assert read(alone) == read(found[place])
    assert read(translate(TEXTS[:1], **asked)[0]) == read(found[0])


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_translation_ends_with_its_suffix_behind_a_prefix_from_any_translator(name: str, attends: bool) -> None:
    texts, prefixes, suffixes = TEXTS[-3:], ["", *PREFIXES[-2:]], [".", *SUFFIXES[-2:]]
    translator = untrained(TOKENIZERS[name](), attends)
    if name == "words between spaces":
        suffixes[0], suffixes[-1] = "the tree", "a tree"
    found = translator.translate(texts, prefixes=prefixes, suffixes=suffixes, beam=4, alternatives=1)
    [alone] = translator.translate(texts[1:2], prefixes=prefixes[1:2], suffixes=suffixes[1:2], beam=4, alternatives=1)
    assert read(alone) == read(found[1])
    for prefix, suffix, one in zip(prefixes, suffixes, found, strict=True):
        check_begins(one, prefix)
        for other in (one, *one.alternatives):
            written = re.sub("</?b>", "", other.text)
            assert other.finished and written.endswith(suffix), (written, suffix)
            assert suffix == "." or not is_glued(written[: -len(suffix)][-1:])
    assert "{name}" in found[-1].text and "{other}" in found[-1].text


def test_suffixes_do_not_go_with_searches_that_could_not_write_them() -> None:
    translator = untrained(words("joiner"))
    others = {"groups": 2}, {"no_repeat_ngram": 2}, {"min_length": 3}
    for asked in ({"sampling": Sampling()}, {"candidates": Candidates({})}, *others):
        with pytest.raises(ConfigError, match="or suffixes"):
            translator.translate(["a man"], suffixes=["the cat"], **asked)  # type: ignore[arg-type]


def check_begins(found: Translation, prefix: str) -> None:
    for one in (found, *found.alternatives):
        written = re.sub("</?b>", "", one.text)
        assert written.startswith(prefix), (written, prefix)
        assert not prefix or not is_glued(written[len(prefix) : len(prefix) + 1]), (written, prefix)


def test_a_prefix_is_scored_and_one_that_it_writes_anyway_changes_nothing(predictor: TranslationPredictor) -> None:
    texts, prefixes, compared = TEXTS[:-1], PREFIXES[:-1], 0
    found = predictor.translate(texts, prefixes=prefixes, beam=3, attention=True)
    for text, one in zip(texts, found, strict=True):
        [forced] = predictor.score_pairs([text], [one.text], attention=True)
        if one.finished and forced.target_pieces == one.target_pieces:  # a text can be segmented in other ways
            assert forced.score == pytest.approx(one.score, rel=1e-9)
            compared += 1
    assert compared > 1
    free = predictor.translate(texts, beam=1)
    begun = [" ".join(one.text.split()[:3]) for one in free]
    for one, again in zip(free, predictor.translate(texts, prefixes=begun, beam=1), strict=True):
        assert again.text.split()[:3] == one.text.split()[:3]


def test_a_prefix_may_have_words_that_are_no_candidates() -> None:
    translator = untrained(words("joiner"))
    [found] = translator.translate(["a man"], prefixes=["the tree sees"], beam=3, candidates=Candidates({}, 3, 1))
    assert found.text.startswith("the tree sees")


def test_terms_change_neither_a_prefix_nor_a_suffix(tmp_path: Path) -> None:
    terms = glossary(tmp_path, "dog\tred tree\nman\tcat | !house\n")
    prefixes, suffixes = ["the red tree walks", "the big red", ""], ["", "sees the tree.", "walks"]
    texts, translate = ["a dog and a man"] * 2 + ["a {name} dog"], untrained(TOKENIZERS["subwords"]()).translate
    found = translate(texts, prefixes=prefixes, suffixes=suffixes, beam=4, terms=terms)
    for prefix, suffix, one in zip(prefixes, suffixes, found, strict=True):
        assert one.text.startswith(prefix) and one.text.endswith(suffix)
        check_terms(one, "red tree", "dog")
        if one is not found[2]:
            check_terms(one, "cat", "man")
    assert "{name}" in found[2].text


def check_terms(found: Translation, term: str, source: str) -> bool:
    """A term is written, or its source form is reported."""
    is_written = bool(re.search(rf"(?i)\b({term})\b", re.sub("</?b>", "", found.text)))
    assert is_written != (source in found.missing_terms)
    return is_written


@pytest.mark.parametrize("asked", [{"beam": 1}, {"beam": 4, "alternatives": 3}, {"beam": 4, "groups": 2}, {"n": 0}])
def test_terms_are_written_by_models_with_attention_in_c_as_step_by_step(asked: dict[str, int], tmp_path: Path) -> None:
    terms, texts = glossary(tmp_path, "dog\tred tree | small tree\ntree\tcat\n"), ["dog", "big dog", "tree"]
    search: dict[str, Any] = {"sampling": Sampling()} if "n" in asked else asked
    found = []
    for kernels in ("native", "python"):
        with running(Runtime(backend="gemm", kernels=kernels)):
            found.append(untrained(words("joiner")).translate(texts, terms=terms, **search))
    assert [one.text for one in found[0]] == [one.text for one in found[1]]
    for text, best in zip(texts, found[0], strict=True):
        term = ("cat", "tree") if text == "tree" else ("red tree|small tree", "dog")
        written = [check_terms(one, *term) for one in (best, *best.alternatives)]
        assert written[0] and not best.missing_terms


@pytest.mark.parametrize("name", WHOLE)
def test_without_attention_a_term_may_replace_any_word_and_no_other_changes(name: str) -> None:
    target = TOKENIZERS[name]()
    ids = tuple(target.encode("a man sees the big cat."))
    row, text = SentenceRequest(MaskedText("", "", "", ""), list(ids)), target.decode(ids)
    tokens, term = tokens_of(target.pieces(ids), text, {}), RequiredTerm("dog", ("tree",), frozenset(), "dog", 0)
    placed = TermPlaces(target, row, Hypothesis(ids, -1.0, None, True, -1.0), text, tokens)
    found = {target.decode(one) for one in placed.outputs(term, range(1))}
    words = "a", "man", "sees", "the", "big", "cat"
    assert found >= {re.sub(rf"\b{word}\b", "tree", text) for word in words}, found


def test_a_term_takes_the_place_of_what_looks_at_its_source_and_articles_agree() -> None:
    target = TOKENIZERS["words"]()
    ids = tuple(target.encode("a man sees the cat."))
    term = RequiredTerm("tree", ("tree",), frozenset(), "dog", 0)
    looks = np.eye(len(ids) + 1, dtype=np.float32)
    hypothesis = Hypothesis(ids, -1.0, looks, True, -1.0)
    row, text = SentenceRequest(MaskedText("", "", "", ""), list(ids)), target.decode(ids)
    tokens = tokens_of(target.pieces(ids), text, {})
    placed = TermPlaces(target, row, hypothesis, text, tokens)
    found = [target.decode(one) for one in placed.outputs(term, range(4, 5))]
    assert found[0] == "a man sees the tree." and all(one.startswith("a man ") for one in found)
    assert {one.split()[-1] for one in found} == {"tree."}
    assert all(re.fullmatch(r"a man s\w+ t\w+ tree\.", one) for one in found)
    assert not TermPlaces(target, row._replace(suffix=ids[4:]), hypothesis, text, tokens).outputs(term, range(4, 5))
    assert not placed.outputs(term._replace(forms=("cat",)), range(4, 5))  # it has it
    assert not placed.outputs(term, range(len(ids), len(ids) + 1))  # no word looks there
    behind = TermPlaces(target, row._replace(prefix=ids[:4]), hypothesis, text, tokens)
    begun = term._replace(forms=("the tree",))
    assert [target.decode(one) for one in behind.outputs(begun, range(4, 5))] == ["a man sees the tree."]
    assert not behind.outputs(term._replace(forms=("the cat", "the tree")), range(4, 5))  # a part of it is given
    everywhere = TermPlaces(target, row, replace(hypothesis, weights=None), text, tokens).outputs(term, range(4, 5))
    assert set(found) < {target.decode(one) for one in everywhere}


def test_a_prefix_is_that_of_the_first_sentence_and_a_suffix_that_of_the_last() -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    line = "The man walks. A dog sees the cat. A tree."
    [plain] = translator.translate_text([line], beam=3)
    [found] = translator.translate_text([line], prefixes=["the tree"], suffixes=["the house"], beam=3)
    assert found.text.startswith("the tree") and found.text.endswith(" the house")
    assert found.sentences[1].text == plain.sentences[1].text


REFUSED: dict[str, tuple[Framed, str]] = {
    "outside the vocabulary": (Framed("a dog", "the zebra"), "has a prefix with 'zebra', which is outside"),
    "missing": (Framed("a dog", None), "has no prefix"),
    "kept alone": (Framed("{name}", "the cat"), "has the prefix 'the cat', but nothing to translate"),
    "kept inside": (Framed("a dog {name}", "the {name}"), r"has a prefix with '\{name\}'"),
    "forbidden": (Framed("a man", "the house"), "has a prefix with a term that is forbidden .*terms.tsv:1"),
    "too long": (
        Framed("a dog", "the cat " * 5, "the cat " * 5),
        r"has a prefix and a suffix of 20 tokens, but .* room for \d+ beside",
    ),
    "suffix outside the vocabulary": (Framed("a dog", "", "zebra."), "has a suffix with 'zebra', which is outside"),
    "suffix missing": (Framed("a dog", "", None), "has no suffix"),
    "nothing to end": (Framed("", "", "the cat"), "has the suffix 'the cat', but nothing to translate"),
    "suffix forbidden": (Framed("a man", "", "the house"), "has a suffix with a term that is forbidden"),
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
    assert number == 2 and re.search(f"Line 2 {said}", message)
    assert found[1].text == "" and found[0].text.startswith("the man") and found[2].text


def test_every_text_has_a_prefix_or_none_has() -> None:
    with pytest.raises(DataError, match="2 texts and 1 prefix: give as many"):
        untrained(words("joiner")).translate(["a", "the"], prefixes=["a"])
    with pytest.raises(TypeError):
        untrained(words("joiner")).translate(["a"], prefixes="a")
    with pytest.raises(ConfigError, match="give them suffixes=True"):
        list(untrained(words("joiner")).stream([Framed("a", "", "the")]))


def test_prefixes_of_words_that_are_annotated_are_refused() -> None:
    plain = words("joiner")
    annotated = type(plain)([*annotations("posall"), *plain.vocabulary], **plain.options)
    translator = untrained(AnnotatedTokenizer(annotated, "posall", {}))
    translator.source = plain
    with pytest.raises(ConfigError, match="posall"):
        translator.translate(["a man"], prefixes=["the cat"], sampling=Sampling())


@pytest.mark.matrix
@pytest.mark.parametrize("attends", [True, False], ids=["attention", "none"])
@pytest.mark.parametrize("name", WHOLE)
def test_terms_are_written_and_forbidden_ones_not_by_any_translator(name: str, attends: bool, tmp_path: Path) -> None:
    texts = [*sentences(6, most=6, seed=5), "the dog {name} <b>sees</b> the man", "The {a}"]
    found = untrained(TOKENIZERS[name](), attends).translate(texts, beam=3, terms=glossary(tmp_path, TERMS))
    for text, translation in zip(texts, found, strict=True):
        written, given = f" {re.sub('</?b>', '', translation.text)} ", text.lower().split()
        for term, source in ("red tree|small tree", "dog"), ("cat", "the"):
            is_written = source not in given or check_terms(translation, term, source)
            assert is_written or attends or "words" not in name.split(), (text, written)
        if "man" in given:
            assert " house " not in written and " woman " not in written
        assert " takes " not in written
    assert "{name}" in found[-2].text and "<b>" in found[-2].text and "{a}" in found[-1].text


def test_terms_do_not_depend_on_the_batch_and_leave_other_sentences_alone(tmp_path: Path) -> None:
    translator = untrained(TOKENIZERS["subwords"]())
    texts, terms = ["a cat walks", "a dog sees the cat", "a cat"], glossary(tmp_path, "dog\tred tree\n")
    together = translator.translate(texts, beam=4, terms=terms)
    assert [translator.translate([text], beam=4, terms=terms)[0] for text in texts] == together
    plain = translator.translate(texts, beam=4)
    assert plain[0] == together[0] and plain[2] == together[2] and plain[1] != together[1]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ("dog\tcat | big cat\nsees\t!cat\n", r"Line 2 needs 'cat' \(.*terms.tsv:1\), which is forbidden .*terms.tsv:2"),
        ("dog\tzebra\n", r"Line 2 needs 'zebra' \(.*terms.tsv:1\), which has words outside the vocabulary"),
    ],
)
def test_terms_that_cannot_be_obeyed_are_refused_by_line(terms: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        untrained(words("joiner")).translate(["a cat", "a dog sees", "the man"], terms=glossary(tmp_path, terms))
