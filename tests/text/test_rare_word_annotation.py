"""Annotations of rare words: what each of the three says, and that they lead back to the source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import RunError
from anaphora.text.rare_word_annotation import NUMBERS, REACH, AnnotatedTokenizer, NumberingTokenizer, Rare, annotations
from anaphora.text.segmentation import Segmentation
from anaphora.text.tokenizer import UNK
from anaphora.text.words import WordOptions, WordTokenizer

NONE: Segmentation = "none"
KINDS: list[Rare] = ["copyable", "posall", "posunk"]


def tokenizers(rare: Rare) -> tuple[WordTokenizer, AnnotatedTokenizer]:
    """A source that knows "the of", and a target that knows "le de"."""
    marks, options = annotations(rare), WordOptions(lowercase=False, segmentation=NONE, language="en")
    kind, more = (NumberingTokenizer, marks) if rare == "copyable" else (WordTokenizer, ())
    words = WordTokenizer([*marks, "le", "de"], **options)
    return kind([*more, "the", "of"], **options), AnnotatedTokenizer(words, rare, {"cat": "chat"})


def shown(rare: Rare, source: str, target: str, links: list[int]) -> str:
    """The annotated target, as words."""
    reading, writing = tokenizers(rare)
    ids = writing.annotate(reading.encode(source), writing.encode(target), links)
    return " ".join(writing.pieces(ids)).replace("▁", "")


@pytest.mark.parametrize(
    ("rare", "annotated"),
    [
        ("copyable", "le <unk:2> de <unk:1> <unk:none> <unk:none>"),
        ("posall", "le <at:0> <unk> <at:-2> de <at:0> <unk> <at:2> <unk> <at:none> <unk> <at:5>"),
        ("posunk", "le <unk:-2> de <unk:2> <unk:none> <unk:5>"),
    ],
)
def test_each_kind_says_which_source_word_an_unknown_one_stands_for(rare: Rare, annotated: str) -> None:
    # links: le-the, chat-Bob, de-of, Anne-Ann, so by nothing, the last one by a word that is known
    assert shown(rare, "the Ann of Bob", "le Bob de Anne so X", [0, 3, 2, 1, -1, 0]) == annotated


def test_a_repeated_unknown_word_of_the_source_has_one_number_and_too_many_have_none() -> None:
    source, _ = tokenizers("copyable")
    names = [f"name{number}" for number in range(NUMBERS + 2)]
    ids = source.encode(" ".join(["the", names[0], names[1], names[0], *names[2:]]))
    assert source.pieces(ids[:4]) == ["▁the", "▁<unk:1>", "▁<unk:2>", "▁<unk:1>"]
    assert ids[-3:] == [ids[-3], UNK, UNK] and source.pieces(ids)[-3] == f"▁<unk:{NUMBERS}>"


WORDS = st.lists(st.sampled_from(["the", "of", "le", "de", "Ann", "Bob", "Eve"]), min_size=1, max_size=12)


@given(st.sampled_from(KINDS), WORDS, WORDS, st.data())
def test_annotations_lead_back_to_the_words_they_stand_for(
    rare: Rare, source: list[str], target: list[str], data: st.DataObject
) -> None:
    reading, writing = tokenizers(rare)
    links = data.draw(st.lists(st.integers(-1, len(source) - 1), min_size=len(target), max_size=len(target)))
    ids, plain = reading.encode(" ".join(source)), writing.encode(" ".join(target))
    annotated = writing.annotate(ids, plain, links)
    found = writing.resolve(annotated, ids)
    assert found.ids == plain and len(found.steps) == len(plain)
    assert writing.decode(annotated) == writing.decode(plain)
    unknown = [j for j, unit in enumerate(plain) if unit == UNK]
    for place, j in zip(found.sources, unknown, strict=True):
        if rare == "copyable":
            known = links[j] < 0 or reading.vocabulary.count(source[links[j]])
            assert place == (-1 if known else source.index(source[links[j]]))
        else:
            assert place == (links[j] if links[j] >= 0 and abs(j - links[j]) <= REACH else -1)


@given(st.sampled_from(KINDS), st.lists(st.integers(0, 21), max_size=15), WORDS)
def test_whatever_a_translator_writes_is_resolved(rare: Rare, ids: list[int], source: list[str]) -> None:
    reading, writing = tokenizers(rare)
    written = [unit for unit in ids if unit < writing.symbols.size]
    found = writing.resolve(written, reading.encode(" ".join(source)))
    assert len(found.sources) == found.ids.count(UNK)
    assert all(-1 <= place < len(source) for place in found.sources)


@pytest.mark.parametrize("rare", KINDS)
def test_what_is_serialised_comes_back_with_its_dictionary(rare: Rare) -> None:
    _, tokenizer = tokenizers(rare)
    again = AnnotatedTokenizer.restore(tokenizer.serialise(), rare, lowercase=False, segmentation=NONE)
    assert again.fingerprint == tokenizer.fingerprint and again.dictionary == {"cat": "chat"}
    assert again.encode("le chat") == tokenizer.encode("le chat")
    plain = WordTokenizer(tokenizer.vocabulary, **tokenizer.options)
    assert plain.fingerprint != tokenizer.fingerprint
    with pytest.raises(RunError, match="should have a dictionary"):
        AnnotatedTokenizer.restore(plain.serialise(), rare, lowercase=False, segmentation=NONE)
