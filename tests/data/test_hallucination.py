"""Hallucinated pairs: stems change alike on both sides, and nothing else does."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.corpora import PairCorpus, StringFile
from anaphora.data.hallucination import hallucinate_pairs, stems
from anaphora.errors import DataError


def corpus(folder: Path, *rows: str) -> PairCorpus:
    path = folder / "train"
    path.write_text("".join(f"{row}\n" for row in rows))
    return PairCorpus("train", (StringFile.of(path),), "x", len(rows))


def test_stems_change_alike_and_affixes_and_tags_stay(tmp_path: Path) -> None:
    whole = hallucinate_pairs(corpus(tmp_path, "sagen\tgesagt\tV.PTCP;PST", "Haus\tHaus\tN;SG"), 200, 1)
    pairs = list(whole)
    assert len(pairs) == whole.count == 202
    stem = set()
    for source, target in pairs[2:]:
        lemma, tags = source.split("\t")
        if tags == "V.PTCP;PST":
            assert lemma.endswith("en") and target == f"ge{lemma[:3]}t"
            stem.add(lemma[:3])
        else:
            assert (target, tags) == (lemma, "N;SG") and len(lemma) == 4
    assert len(stem) > 30
    again, other = (hallucinate_pairs(PairCorpus("train", whole.files, "x", 2), 200, seed) for seed in (1, 2))
    assert pairs == list(again) != list(other)
    assert whole.fingerprint == again.fingerprint != other.fingerprint != "x"
    assert {letter for source, _ in pairs for letter in source.split("\t")[0]} <= set("sagenHaus")


def test_without_a_stem_nothing_can_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pair of train has 3 characters in common"):
        hallucinate_pairs(corpus(tmp_path, "gut\tbesser\tADJ;CMPR"), 5, 1)


@given(st.text("abc", max_size=9), st.text("abc", max_size=9))
def test_stems_are_the_same_on_both_sides_and_in_order(source: str, target: str) -> None:
    before = (0, 0)
    for in_source, in_target, size in stems(source, target):
        assert size >= 3 and source[in_source : in_source + size] == target[in_target : in_target + size]
        assert in_source >= before[0] and in_target >= before[1]
        before = in_source + size, in_target + size
