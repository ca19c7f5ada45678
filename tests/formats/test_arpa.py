"""ARPA files of other programs, as they come; what any reader finds in ours: ``tests/pipeline/test_arpa.py``."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.arpa import NEVER, ArpaGram, read_arpa

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "small.arpa"


@pytest.mark.parametrize("begin", ["\\1", "\\2", "\\end", "\\"])
def test_the_empty_lines_between_parts_may_be_missing(path: Path, begin: str) -> None:
    path.write_text(FILE)
    expected = read_arpa(path)
    assert f"\n\n{begin}" in FILE
    path.write_text(FILE.replace(f"\n\n{begin}", f"\n{begin}"))
    assert read_arpa(path) == expected


def test_without_empty_lines_too_few_ngrams_are_told(path: Path) -> None:
    path.write_text(FILE.replace("\n\n", "\n").replace("ngram 1=3", "ngram 1=4"))
    with pytest.raises(DataError, match=r"should have 4 n-grams of order 1, .* but has 3"):
        read_arpa(path)


def test_the_begin_of_a_line_alone_may_be_minus_infinity(path: Path) -> None:
    path.write_text(FILE.replace("-99\t<s>", "-inf\t<s>"))
    assert read_arpa(path)[0][0] == ArpaGram(NEVER, ("<s>",), -0.5)
    path.write_text(FILE.replace("-0.4\ta", "-inf\ta"))
    with pytest.raises(DataError, match=r":8 should read LOG10 WORD \[BACKOFF\], finite numbers"):
        read_arpa(path)


def test_a_back_off_weight_of_the_highest_order_is_refused(path: Path) -> None:
    path.write_text(FILE.replace("<s> a", "<s> a\t-0.3"))
    with pytest.raises(DataError, match=r":11 should have no back-off weight, .* but has -0\.3"):
        read_arpa(path)
    path.write_text(FILE.replace("<s> a", "<s> a\t0"))  # which is what none stands for
    assert read_arpa(path)[1] == [ArpaGram(-0.1, ("<s>", "a"), 0.0)]


def test_what_kenlm_has_packed_is_told_from_a_damaged_file(path: Path) -> None:
    path.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\x00\x01\x00")
    with pytest.raises(DataError, match=r"is a KenLM binary"):
        read_arpa(path)
