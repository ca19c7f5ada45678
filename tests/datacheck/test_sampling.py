"""A large training split is sampled: fractions stay, and all that held-out splits share with it is found."""

from pathlib import Path

import pytest

from anaphora.data.corpora import Splits
from anaphora.data.sources import text_splits, translation_splits
from anaphora.datacheck import splits
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.survey import survey_corpus
from anaphora.formats.lines import write_lines

COUNT, EVERY = 6000, 12


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split is large from few lines on."""
    monkeypatch.setattr(splits, "LARGE", COUNT)
    monkeypatch.setattr(splits, "SAMPLED", COUNT // EVERY)


@pytest.fixture
def pairs(tmp_path: Path) -> Splits:
    """Pairs of which a third repeat an earlier one, and a tenth have a control character; validation repeats ten."""
    sources = [f"the number {number % 4000} is good" + "\x07" * (number % 10 == 9) for number in range(COUNT)]
    targets = [f"le nombre {number % 4000} est bon" for number in range(COUNT)]
    for side, lines in (("en", sources), ("fr", targets)):
        write_lines(tmp_path / f"train.{side}", [side, *lines[1:]])
        write_lines(tmp_path / f"val.{side}", [*lines[5000:5010], f"{side} alone"])
    return translation_splits([tmp_path], "en", "fr")


def by_kind(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.kind: finding for finding in findings}


def test_fractions_are_those_of_the_whole_split(pairs: Splits) -> None:
    survey = survey_corpus(pairs, ("en", "fr"), exact=False)
    found, counted = by_kind(survey.findings), by_kind(survey_corpus(pairs, ("en", "fr")).findings)
    surveyed = survey.sides[0].lines
    assert surveyed == pytest.approx(COUNT / EVERY, rel=0.05)
    assert str(found["sampled"]) == (
        f"train: {surveyed} of 6,000 lines were surveyed, drawn evenly. Pass --exact to survey all of them."
    )
    assert found["sampled"].severity == "note"
    for kind in ("control", "duplicate"):
        fraction, whole = (finding.count / finding.total for finding in (found[kind], counted[kind]))
        assert found[kind].total < COUNT / EVERY * 1.2
        assert fraction == pytest.approx(whole, rel=0.25)
    assert counted["duplicate"].count == 2000 - 1


def test_a_heading_and_pairs_of_held_out_splits_are_found_in_any_line(pairs: Splits) -> None:
    found = by_kind(survey_corpus(pairs, ("en", "fr"), exact=False).findings)
    counted = by_kind(survey_corpus(pairs, ("en", "fr")).findings)
    assert found["header"].places == counted["header"].places
    assert (found["overlap"].count, found["overlap"].total) == (10, 11)
    assert found["overlap"].places == counted["overlap"].places


def test_a_smaller_split_is_surveyed_whole(pairs: Splits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "LARGE", COUNT + 1)
    assert survey_corpus(pairs, ("en", "fr"), exact=False).findings == survey_corpus(pairs, ("en", "fr")).findings


def test_running_text_is_sampled_too(tmp_path: Path) -> None:
    write_lines(tmp_path / "train.txt", (f"line number {number} of a long book" for number in range(COUNT)))
    write_lines(tmp_path / "valid.txt", ["line number 77 of a long book", "another line that is not in it"])
    found = by_kind(survey_corpus(text_splits([tmp_path]), exact=False).findings)
    assert found["overlap"].count == 1
    assert found["sampled"].total == COUNT
