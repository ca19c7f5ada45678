"""Sentence pairs are split by groups, and as the published files of the split are."""

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.tatoeba import split, write_lines

Pairs = list[tuple[str, str]]
SENTENCE = st.text("ab ?!É", min_size=1, max_size=3)
PAIRS = st.lists(st.tuples(SENTENCE, SENTENCE), max_size=60)


@given(PAIRS)
def test_no_sentence_is_in_both_parts_whatever_its_case_and_signs(pairs: Pairs) -> None:
    train, valid = split(pairs).values()
    for side in (0, 1):
        first, second = ({" ".join(pair[side].lower().replace("?", " ").replace("!", " ").split()) for pair in part}
                         for part in (train, valid))  # fmt: skip
        assert not first & second


@given(PAIRS, st.randoms())
def test_the_part_of_a_pair_does_not_depend_on_the_order(pairs: Pairs, draw: random.Random) -> None:
    again = draw.sample(pairs, len(pairs))
    for name, part in split(pairs).items():
        assert sorted(split(again)[name]) == sorted(part)


def test_pairs_stay_in_their_order() -> None:
    pairs = [(f"Sentence {number}.", f"Phrase {number}.") for number in range(2000)]
    for part in split(pairs).values():
        assert part == sorted(part, key=pairs.index)
    shares = {name: len(part) / 2000 for name, part in split(pairs).items()}
    assert shares == pytest.approx({"train": 0.96, "valid": 0.015}, abs=0.01)


@pytest.mark.slow
def test_the_rule_gives_the_published_files_from_their_pairs(shared_data: Path) -> None:
    """The archive is those two files and pairs in neither, whose groups they share nothing with, interleaved."""
    published, pool = {}, []
    for name in ("train", "valid"):
        data = gzip.decompress((shared_data / "tatoeba_en-fr" / f"{name}.tsv.gz").read_bytes())
        published[name] = data
        rows = [tuple(line.split("\t")) for line in data.decode().split("\n")[:-1]]
        pool += [(place / len(rows), english, french) for place, (english, french) in enumerate(rows)]
    parts = split([(english, french) for _, english, french in sorted(pool, key=lambda row: row[0])])
    assert {name: b"".join(write_lines(part)) for name, part in parts.items()} == published
