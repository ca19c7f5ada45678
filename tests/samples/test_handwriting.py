"""Made-up handwriting is the same everywhere, and every letter is written."""

import json
from itertools import islice
from pathlib import Path

import pytest

from anaphora.data.finding import Names
from anaphora.data.traces import trace_splits
from anaphora.samples.handwriting import LETTERS, handwrite, lines, write


def test_a_longer_stream_begins_with_the_shorter_and_another_seed_gives_other_lines() -> None:
    short = list(lines(1, 5))
    assert list(islice(lines(1, 9), 5)) == short
    assert list(lines(2, 5)) != short


def test_a_line_is_the_same_on_every_machine() -> None:
    assert handwrite("be", 1).strokes[0][:3] == [(34, -172), (30, -139), (27, -107)]


@pytest.mark.parametrize("letter", sorted(set(LETTERS) - {" "}))
def test_every_letter_is_written_within_its_lines(letter: str) -> None:
    for seed in range(5):
        strokes = handwrite(f"{letter} {letter}", seed).strokes
        heights = [-y for stroke in strokes for _, y in stroke]
        assert min(heights) > -120 and 60 < max(heights) < 240
        assert len(strokes) == 2 * len(LETTERS[letter].strokes)
        assert all(len(stroke) > 1 for stroke in strokes)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(KeyError):
        handwrite("A", 1)


def test_a_corpus_has_three_splits_that_share_no_line(tmp_path: Path) -> None:
    parts = trace_splits([write(tmp_path / "made", train=20, valid=5, test=5)], Names("train", "val", "test"))
    assert (parts.train.count, parts.valid.count, parts.tests["test"].count) == (20, 5, 5)
    rows = [json.loads(line) for file in (tmp_path / "made").iterdir() for line in file.read_text().splitlines()]
    assert len({json.dumps(row["strokes"]) for row in rows}) == 30
