"""Tokens with joiner marks: a text comes back from them as it was written."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.formats.lines import read_lines
from anaphora.text.joiner_tokens import JOINER, JoinerTokens
from anaphora.text.normalise import normalise
from anaphora.text.segmentation import tokens_of
from anaphora.text.words import WordTokenizer

LANGUAGES = ("en", "fr", "de", "gn", "he", "ja")
WRITTEN = [
    "I don’t know what you’re saying.",
    "“See what you did!” she cried. “In a minute I go.”",
    "Tea and/or coffee, she said.",
    "It's 'fine' at 3:30 (or 15h45) for $42.50!",
    "Read http://example.org/a?b=1&c=2 and <b>%s</b>, {name}…",
    "« Où ? », dit-il\u202f; l’« Ami » d'eux\u00a0!",
    'ארה״ב וצה"ל, צ׳יפס.',
    "元気ですか？ はい。",
    "من می\u200cخواهم، خوب؟",
    "a👩\u200d👧b ☝🏽! 1,000.50 10-15 x<unk>y",
]


@given(st.text(st.characters(exclude_characters=JOINER, exclude_categories=["Cs"])), st.sampled_from(LANGUAGES))
def test_any_text_comes_back_from_its_tokens(text: str, language: str) -> None:
    tokens = JoinerTokens(language)
    assert tokens.join(tokens.split(text)) == text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("line", WRITTEN)
def test_a_line_of_known_words_is_decoded_as_it_was_written(line: str, language: str) -> None:
    tokenizer = WordTokenizer.learn([line], size=99, least=1, lowercase=False, segmentation="joiner", language=language)
    assert tokenizer.decode(tokenizer.encode(line)) == line
    assert "".join(tokenizer.pieces(tokenizer.encode(line))) == "".join(tokenizer.pieces_of(line))


@pytest.mark.parametrize(
    ("language", "line", "tokens"),
    [
        ("en", "Hello, (you) and.", "Hello ￭, (￭ you ￭) and ￭."),
        ("en", 'He said: "No!"', 'He said ￭: "￭ No ￭! ￭"'),
        ("en", "I don't, the dogs' 'own'", "I don ￭'t ￭, the dogs ￭' '￭ own ￭'"),
        ("fr", "l’homme d'ici, est-ce", "l’￭ homme d'￭ ici ￭, est-ce"),
        ("gn", "ñe'ẽ porã.", "ñe'ẽ porã ￭."),
        ("en", "3.5% of 1,000 at 3:30", "3.5 ￭% of 1,000 at 3 ￭:￭ 30"),
        ("en", "<unk>, <s>", "<unk> ￭, <￭ s ￭>"),
        ("en", "a  b\u00a0c ", "a ￭￭ ￭￭ b ￭\u00a0￭ c ￭￭"),
    ],
)
def test_signs_are_marked_where_no_space_stands(language: str, line: str, tokens: str) -> None:
    assert JoinerTokens(language).split(line) == tokens.split(" ")


def test_the_mark_itself_reads_as_its_full_width_form() -> None:
    tokens = JoinerTokens("en")
    assert tokens.join(tokens.split(f"a{JOINER} b")) == "a\N{BLACK SQUARE} b"


def test_white_space_at_the_ends_of_a_line_is_no_word() -> None:
    tokenizer = WordTokenizer.learn(["a b"], size=9, least=1, lowercase=False, segmentation="joiner", language="en")
    assert tokenizer.encode(" \ta b\u00a0 ") == tokenizer.encode("a b")


@pytest.mark.parametrize(
    "name",
    [
        "multi30k/val.fr.gz",
        "americasnlp2021/es-hch/dev.hch.gz",
        "po/bleachbit.fr.po.gz",
        pytest.param("tmx/omegat-l10n.en-de.tmx.gz", marks=pytest.mark.slow),
    ],
)
def test_real_lines_come_back_as_they_were_written(shared_data: Path, name: str) -> None:
    language = name.removesuffix(".gz").rpartition(".")[2]
    tokens, lines = tokens_of("joiner", language), list(read_lines(shared_data / name, any_format=True))
    assert sum(tokens.join(tokens.split(normalise(line))) == line for line in lines) >= 0.995 * len(lines)
