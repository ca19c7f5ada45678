"""Corpora are streams that say when two files do not fit together."""

import gzip
from pathlib import Path

import pytest

from anaphora.data.corpora import AlignedFiles, PairCorpus, TextCorpus, both_sides, fingerprint
from anaphora.errors import DataError


def aligned(folder: Path, sources: list[str], targets: list[str]) -> AlignedFiles:
    files = AlignedFiles(folder / "train.en", folder / "train.cs.gz")
    files.source.write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
    files.target.write_bytes(gzip.compress("".join(f"{line}\n" for line in targets).encode()))
    return files


def test_a_corpus_is_walked_as_often_as_needed(tmp_path: Path) -> None:
    files = aligned(tmp_path, ["a", " ", "c"], ["A", "B", "C"])
    corpus = PairCorpus("train", (files, files), "print", 4, both_sides)
    for _ in range(2):
        assert list(corpus) == [("a", "A"), ("c", "C")] * 2
    assert list(corpus.sources()) == ["a", "c"] * 2
    assert list(corpus.targets()) == ["A", "C"] * 2


def test_running_text_keeps_empty_lines_and_goes_on_over_files(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("a\n\nb", encoding="utf-8")
    (tmp_path / "2.txt").write_text("c\n", encoding="utf-8")
    paths = (tmp_path / "1.txt", tmp_path / "2.txt")
    assert list(TextCorpus("train", paths, "", 4)) == ["a", "", "b", "c"]
    assert list(TextCorpus("valid", paths, "", 2, start=2).lines()) == ["b", "c"]


def test_the_fingerprint_sees_bytes_order_and_choices(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(b"a")
    two.write_bytes(b"b")
    before = fingerprint([one, two], "all")
    assert before == fingerprint([one, two], "all")
    others = {fingerprint([two, one], "all"), fingerprint([one, two], "half"), fingerprint([one], "all")}
    one.write_bytes(b"c")
    others.add(fingerprint([one, two], "all"))
    assert len(others | {before}) == 5
    with pytest.raises(DataError, match="cannot be read"):
        fingerprint([tmp_path / "nowhere"])
