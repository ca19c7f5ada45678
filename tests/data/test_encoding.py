"""Lines encoded by several processes: as by one, and with one error for whatever goes wrong in them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anaphora.data import encoding
from anaphora.data.encoding import Encoding, Rows
from anaphora.errors import DataError, RunError
from anaphora.text.words import WordTokenizer

WORDS = WordTokenizer(["a", "b", "c"], lowercase=False, segmentation="whitespace", language="en")
BLOCKS = [[[f"a b {'c ' * number}x", "a"], ["b", ""]] for number in range(7)]

SCRIPT = """
from anaphora.data import encoding
from anaphora.text.words import WordTokenizer

encoding.MANY = 1
print("begun")
words = WordTokenizer(["a"], lowercase=False, segmentation="whitespace", language="en")
with encoding.Encoding((words,), 2, 7) as several:
    print(len(list(several.rows([[["a"]]] * 7))))
"""


class Dying(WordTokenizer):
    """Words, but ``a`` alone kills its process."""

    def encode(self, text: str) -> list[int]:
        if text == "a":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(text)


def listed(encoding: Encoding, blocks: list[list[list[str]]]) -> list[list[list[list[int]]]]:
    return [[rows.each() for rows in sides] for sides in encoding.rows(blocks)]


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MANY", 1)


@pytest.mark.usefixtures("few_are_many")
def test_several_processes_encode_as_one_does_and_in_order() -> None:
    with Encoding((WORDS, WORDS), 1, 14) as one, Encoding((WORDS, WORDS), 3, 14) as several:
        expected = listed(one, BLOCKS)
        assert listed(several, BLOCKS) == expected
    assert expected[2] == [[WORDS.encode("a b c c x"), WORDS.encode("a")], [WORDS.encode("b"), []]]


@pytest.mark.usefixtures("few_are_many")
def test_what_a_tokenizer_refuses_and_the_death_of_a_process_are_one_error() -> None:
    with Encoding((WORDS,), 2, 2) as several, pytest.raises(DataError, match=r"lone surrogate U\+D800"):
        listed(several, [[["a"]], [["\ud800"]]])
    dying = Dying(["a"], lowercase=False, segmentation="whitespace", language="en")
    with Encoding((dying,), 2, 2) as several, pytest.raises(RunError, match="encodes the corpus was killed"):
        listed(several, [[["b"]], [["a"]], [["b"]]])


def test_a_script_that_is_not_written_for_it_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["begun", "7"]


def test_rows_are_listed_and_chosen() -> None:
    rows = Rows.of([[1, 2], [], [3]])
    kept = rows.kept(rows.lengths > 0)
    assert rows.each() == [[1, 2], [], [3]]
    assert kept.each() == [[1, 2], [3]]
