"""Pairs left out on request: which, the same ones in every pass, with the held-out split and the report to fit."""

from pathlib import Path
from typing import get_args

import pytest

from anaphora.data.filters import Filter, Filters
from anaphora.data.sources import translation_splits
from anaphora.datacheck.splits import rows
from anaphora.events import Event, Skipped

USUAL = [("a small dog", "ein kleiner Hund")] * 10


@pytest.mark.parametrize(
    ("name", "pairs", "kept"),
    [
        (
            "near-duplicates",
            [("Page 1.", "Seite 1."), ("page 2", "SEITE  2!"), ("Page", "Blatt"), ("1", "1"), ("2", "2"), ("1", "1")],
            [0, 2, 3, 4],
        ),
        (
            "length-ratio",
            [
                ("a dog", "ein Hund"),
                ("a dog", "ein Hund, der lange durch den Garten läuft und bellt"),
                ("a " * 40, "x"),
            ],
            [0],
        ),
        (
            "script",
            [("a dog", "ein Hund"), ("собака", "ein Hund"), ("a dog", "собака"), ("12", "да"), ("a собака", "Hund")],
            [0, 3, 4],
        ),
    ],
)
def test_a_filter_leaves_out_its_pairs_alone(name: Filter, pairs: list[tuple[str, str]], kept: list[int]) -> None:
    filters = Filters([name], ("en", "de"), USUAL)
    for _ in range(2):  # every pass begins anew
        reason = filters.begin()
        assert [number for number, pair in enumerate(pairs) if not reason(*pair)] == kept
    assert Filters(["script"], ("en", "qqq"), USUAL).begin()("a dog", "собака") == ""  # a language of unknown script


def test_the_splits_and_the_report_agree(tmp_path: Path) -> None:
    pairs = [(f"{word} dog {number}", f"{word} Hund {number}") for word in "abcdefgh" for number in range(20)]
    lines = [*pairs, ("собака", "Hund"), ("", "x"), ("a dog", "ein Hund " * 20)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in lines))
    reports: list[Event] = []
    splits = translation_splits([tmp_path / "pairs.tsv"], "en", "de", filters=get_args(Filter), report=reports.append)
    train, valid = list(splits.train), list(splits.valid)
    assert (len(train), len(valid)) == (splits.train.count, splits.valid.count) == (7, 1)
    assert sorted([*train, *valid]) == [(f"{word} dog 0", f"{word} Hund 0") for word in "abcdefgh"]
    assert [row.texts for row in rows(splits.train) if row.kept] == train
    skipped = {event.reason.partition(" were")[0]: event.count for event in reports if isinstance(event, Skipped)}
    assert skipped == {
        "pairs in the wrong script": 1,
        "pairs with an unusual length ratio": 1,
        "pairs that repeat an earlier pair but for case, digits and signs": 152,
        "pairs with an empty side": 1,
    }
    plain = translation_splits([tmp_path / "pairs.tsv"], "en", "de")
    assert plain.train.fingerprint != splits.train.fingerprint
    assert plain.train.count + plain.valid.count == 162
