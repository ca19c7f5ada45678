"""Lines encoded by several processes: as by one, and with one error for whatever goes wrong in them."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.data import encoding
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
print(len(list(encoding.encode_blocks((words,), [[["a"]]] * 7, 2, 7))))
"""


class Dying(WordTokenizer):
    """Words, but ``a`` alone kills its process."""

    def encode(self, text: str) -> list[int]:
        if text == "a":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().encode(text)


def listed(tokenizers: Sequence[WordTokenizer], blocks: list[list[list[str]]], threads: int) -> list[Any]:
    return [[rows.to_lists() for rows in sides] for sides in encoding.encode_blocks(tokenizers, blocks, threads, 14)]


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MANY", 1)


def test_several_processes_encode_as_one_does_and_in_order() -> None:
    expected = listed((WORDS, WORDS), BLOCKS, 1)
    assert listed((WORDS, WORDS), BLOCKS, 2) == expected
    assert expected[2] == [[WORDS.encode("a b c c x"), WORDS.encode("a")], [WORDS.encode("b"), []]]


def test_what_a_tokenizer_refuses_and_the_death_of_a_process_are_one_error() -> None:
    with pytest.raises(DataError, match=r"lone surrogate U\+D800"):
        listed((WORDS,), [[["a"]], [["\ud800"]]], 2)
    dying = Dying(["a"], lowercase=False, segmentation="whitespace", language="en")
    with pytest.raises(RunError, match="encodes the corpus was killed"):
        listed((dying,), [[["b"]], [["a"]], [["b"]]], 2)


def test_a_script_that_is_not_written_for_it_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["begun", "7"]
