"""ARPA files of other programs as they come; for what any reader finds in ours, see ``tests/tasks/language_model``."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats import arpa, lines
from anaphora.formats.arpa import NEVER, ArpaGram, read_arpa

from .conftest import Written

FILE = """\\data\\
ngram 1=3
ngram 2=1

\\1-grams:
-99\t<s>\t-0.5
-0.6\t</s>
-0.4\ta

\\2-grams:
-0.1\t<s> a

\\end\\
"""


def grams_of(path: Path) -> list[list[ArpaGram]]:
    """The n-grams of every order as words."""
    model = read_arpa(path)
    return [list(model.grams(order)) for order in range(1, len(model.orders) + 1)]


@pytest.mark.parametrize(
    ("before", "after", "begin"),
    [
        *((f"\n\n{part}", f"\n{part}", -99) for part in ("\\1", "\\2", "\\end", "\\")),
        ("-99\t<s>", "-inf\t<s>", NEVER),
        ("<s> a", "<s> a\t0", -99),  # which is what no back-off weight stands for
    ],
)
def test_what_other_programs_write_otherwise_is_read(before: str, after: str, begin: float, written: Written) -> None:
    assert before in FILE
    path = written("small.arpa", FILE.replace(before, after))
    unigrams = [(begin, ("<s>",), -0.5), (-0.6, ("</s>",), 0), (-0.4, ("a",), 0)]
    assert grams_of(path) == [unigrams, [(-0.1, ("<s>", "a"), 0)]]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("\n-0.4\ta\n", "", r" should have 3 n-grams of order 1, .* but has 2"),
        ("-0.4\ta", "-inf\ta", r":8 should read LOG10 WORD \[BACKOFF\], finite numbers"),
        ("-0.4\ta", "-0.4\t\0", ":8 has a NUL at byte 6"),
        ("<s> a", "<s> a\t-0.3", r":11 should have no back-off weight, .* but has -0\.3"),
        ("\\data\\", "mmap lm http://kheafield.com/code format version 5\n\0\1\0", " is a KenLM binary"),
    ],
)
def test_what_no_program_should_write_is_refused(before: str, after: str, said: str, written: Written) -> None:
    with pytest.raises(DataError, match=rf"small\.arpa{said}"):
        read_arpa(written("small.arpa", FILE.replace(before, after)))


WORDS = st.text(st.sampled_from("ab\u00e9\u00a0\x0b\\"), min_size=1, max_size=3)
NUMBERS = st.sampled_from(["-1", "-0.25", "0", "-2.5e-3", "-99", " -7"])
BACKOFFS = st.sampled_from(["", "\t-0.5", "\t0.25", " 0", "\t-1e-2 "])


@settings(max_examples=60)
@given(
    unigrams=st.lists(st.tuples(NUMBERS, WORDS, BACKOFFS), min_size=1, max_size=12, unique_by=lambda gram: gram[1]),
    pairs=st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=12),
    size=st.sampled_from([1, 30, 1 << 20]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_blocks_of_any_size_hold_what_the_lines_say(
    tmp_path_factory: pytest.TempPathFactory,
    unigrams: list[tuple[str, str, str]],
    pairs: set[tuple[int, int]],
    size: int,
    end: str,
) -> None:
    known = [word for _, word, _ in unigrams]
    bigrams = [(known[first % len(known)], known[second % len(known)]) for first, second in sorted(pairs)]
    bigrams = list(dict.fromkeys(bigrams))
    text = [
        *("\\data\\", f"ngram 1={len(unigrams)}", f"ngram 2={len(bigrams)}", "", "\\1-grams:"),
        *(f"{log10}\t{word}{backoff}" for log10, word, backoff in unigrams),
        *("", "\\2-grams:", *(f"-0.5\t{first} {second}" for first, second in bigrams), "\\end\\"),
    ]
    path = tmp_path_factory.mktemp("arpa") / "drawn.arpa"
    path.write_bytes("".join(f"{line}{end}" for line in text).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", size)
        found = grams_of(path)
    assert found == [
        [ArpaGram(float(log10), (word,), float(backoff or 0)) for log10, word, backoff in unigrams],
        [ArpaGram(-0.5, gram, 0.0) for gram in bigrams],
    ]


@pytest.mark.parametrize(("bad", "said"), [("-0.5\tw7", "repeats the n-gram 'w7'"), ("0.5\tx", "should read LOG10")])
def test_a_fault_is_named_with_its_line(written: Written, bad: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 1000)
    grams = [f"-0.5\tw{number}" for number in range(2000)]
    grams[1500] = bad
    path = written("small.arpa", "\n".join(["\\data\\", "ngram 1=2000", "\\1-grams:", *grams, "\\end\\", ""]))
    with pytest.raises(DataError, match=rf"small\.arpa:1504 {said}"):
        read_arpa(path)


def test_ngrams_with_one_hash_are_told_apart(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arpa, "_MULTIPLIER", 0)  # the last word is all that is hashed
    path = written("small.arpa", FILE.replace("2=1", "2=2").replace("<s> a", "<s> a\n-0.2\ta a"))
    assert [gram.words for gram in grams_of(path)[1]] == [("<s>", "a"), ("a", "a")]
