"""Published corpora: what is wrong with them is found, and a sound one gives no warning."""

from pathlib import Path

import pytest

from anaphora.data.finding import Names
from anaphora.data.sources import translation_splits
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.survey import survey_corpus


def findings(folder: Path, source: str, target: str, train: str = "train") -> list[Finding]:
    return survey_corpus(translation_splits([folder], source, target, Names(train)), (source, target)).findings


@pytest.mark.slow
def test_the_captions_are_sound(shared_data: Path) -> None:
    found = findings(shared_data / "multi30k", "en", "de")
    assert {finding.severity for finding in found} == {"note"}
    counts = {(f.kind, f.split, f.side): f.count for f in found}
    assert counts["duplicate", "train", ""] == 3
    assert counts["entities", "train", "en"] == 16


@pytest.mark.slow
def test_the_talks_are_tokenised_escaped_and_hold_two_control_characters(shared_data: Path) -> None:
    found = findings(shared_data / "iwslt14_de-en", "de", "en", "train-sample")
    warned = {f.kind: f for f in found if f.severity == "warning" and (f.split, f.side) == ("train-sample", "de")}
    assert warned.keys() == {"control", "entities", "tokenised"}
    assert [place.line for place in warned["control"].places] == [2452, 7393]
