import pytest

from anaphora.errors import ConfigError
from anaphora.prediction.candidates import Candidates
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, Rare, annotations
from anaphora.text.tokenizer import EOS, UNK
from anaphora.text.words import WordTokenizer

SOURCE = WordTokenizer(["the", "sees"], lowercase=False, segmentation="whitespace", language="en")
TARGET = WordTokenizer(["le", "la", "voit", "chat", "Ann"], lowercase=False, segmentation="whitespace", language="fr")
LE, LA, VOIT, CHAT, ANN = TARGET.encode("le la voit chat Ann")
TRANSLATIONS = {"the": ["la", "le", "les"], "cat": ["chat"], "sees": ["regarde"]}


def rows(texts: list[str], frequent: int, each: int) -> list[list[int]]:
    found = Candidates(TRANSLATIONS, frequent, each).of(texts, SOURCE, TARGET)
    return [ids[:length].tolist() for ids, length in zip(found.ids_BT, found.lengths_B, strict=True)]


def test_a_sentence_has_the_frequent_words_and_the_likeliest_translations_of_its_own() -> None:
    assert rows(["the Cat sees", "sees", "Ann"], 0, 1) == [[UNK, EOS, LA, CHAT], [UNK, EOS], [UNK, EOS, ANN]]
    assert rows(["the"], 0, 2) == [[UNK, EOS, LE, LA]]
    assert rows(["sees"], 2, 2) == [[UNK, EOS, LE, LA]]
    assert rows(["sees"], 100, 0) == [[UNK, EOS, LE, LA, VOIT, CHAT, ANN]]
    with pytest.raises(ConfigError, match="Candidates are whole words"):
        Candidates({}).of(["a"], CharacterTokenizer("a", lowercase=False), TARGET)


def test_dictionary_and_vocabularies_may_write_words_in_cases_of_their_own() -> None:
    target = WordTokenizer(["Hund", "der", "Der"], lowercase=False, segmentation="whitespace", language="de")
    hund, der, _ = target.encode("Hund der Der")
    found = Candidates({"DOG": ["hund"], "the": ["der"]}, 0, 1).of(["The dog"], SOURCE, target)
    assert found.ids_BT.tolist() == [[UNK, EOS, hund, der]]


@pytest.mark.parametrize("rare", ["copyable", "posall", "posunk"])
def test_annotations_may_always_be_written_and_are_no_frequent_words(rare: Rare) -> None:
    marks = annotations(rare)
    words = WordTokenizer([*marks, "le", "la", "voit"], lowercase=False, segmentation="whitespace", language="fr")
    target = AnnotatedTokenizer(words, rare, {})
    [ids] = Candidates({}, frequent=2, each=1).of(["sees"], SOURCE, target).ids_BT.tolist()
    assert target.pieces(ids)[2:] == [f"\u2581{word}" for word in (*marks, "le", "la")]
