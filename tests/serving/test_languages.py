"""Language codes as clients write them, and detection among several."""

import pytest

from anaphora.serving.detection import Detector
from anaphora.serving.languages import known_as, name_of


@pytest.mark.parametrize(
    ("asked", "known", "found"),
    [
        ("en", ["en", "de"], "en"),
        ("DE", ["en", "de"], "de"),
        ("en_US", ["en"], "en"),
        ("zh", ["zh-Hans"], "zh-Hans"),
        ("zh-Hans", ["zh"], "zh"),
        ("zh_Hans", ["zh"], "zh"),
        ("pb", ["pt-BR", "pt"], "pt-BR"),
        ("pt-BR", ["pt"], "pt"),
        ("iw", ["he"], "he"),
        ("he", ["iw"], "iw"),
        ("pt", ["pt-BR"], "pt-BR"),
        ("zz", ["en"], None),
        ("", ["en"], None),
    ],
)
def test_a_code_means_the_nearest_language_there_is(asked: str, known: list[str], found: str | None) -> None:
    assert known_as(asked, known) == found


def test_languages_have_english_names_and_others_their_code() -> None:
    assert [name_of(code) for code in ("en", "zh-Hans", "de-AT", "nah")] == [
        "English",
        "Chinese (simplified)",
        "German",
        "nah",
    ]


def test_the_likeliest_language_comes_first_with_confidences_that_add_up() -> None:
    detector = Detector(["en", "de", "fr", "nah"])
    found = detector.detect("Der Hund läuft über die Straße.")
    assert found[0].language == "de"
    assert sum(one.confidence for one in found) == pytest.approx(100, abs=0.5)
    assert detector.detect(" ")[0].confidence == 0
    assert Detector(["nah"]).detect("anything")[0].json() == {"confidence": 100.0, "language": "nah"}
