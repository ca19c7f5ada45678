"""A side that is in no script of its language is named, and so is the other side where the two are swapped."""

from itertools import product
from pathlib import Path
from string import ascii_lowercase

import pytest

from anaphora.data.sources import text_splits, translation_splits
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.survey import survey_corpus
from anaphora.text.scripts import script_of, scripts_of

from .corpora import write

ENGLISH = "the old farmer sees birds"
RUSSIAN = "старый крестьянин видит птиц"
SERBIAN = "стари сељак види птице"
SERBIAN_IN_LATIN = "stari seljak vidi ptice"
JAPANESE = "農夫が静かな村で小鳥を見る"
CHINESE = "农夫在安静的村庄看到小鸟"


def found(folder: Path, source: str, source_text: str, target: str, target_text: str) -> list[Finding]:
    pairs = [(f"{source_text} {number}", f"{target_text} {number}") for number in range(20)]
    write(folder, "train", pairs[:15], source, target)
    write(folder, "val", pairs[15:], source, target)
    survey = survey_corpus(translation_splits([folder], source, target), (source, target))
    return [one for one in survey.findings if one.kind in ("swapped", "language")]


@pytest.mark.parametrize(
    ("source", "source_text", "target", "target_text"),
    [
        ("en", ENGLISH, "ru", RUSSIAN),
        ("en", ENGLISH, "ru", f"{RUSSIAN} Anna"),
        ("en", ENGLISH, "sr", SERBIAN),
        ("en", ENGLISH, "sr", SERBIAN_IN_LATIN),
        ("sr", SERBIAN, "ru", RUSSIAN),
        ("en", ENGLISH, "ja", JAPANESE),
        ("zh", CHINESE, "en", ENGLISH),
        ("zh_Hans", CHINESE, "en-GB", ENGLISH),
        ("xx", ENGLISH, "ru", RUSSIAN),
        ("xx", RUSSIAN, "en", ENGLISH),
        ("en", "12 %", "ru", "12 %"),
    ],
)
def test_sides_in_scripts_of_their_languages_have_no_finding(
    source: str, source_text: str, target: str, target_text: str, tmp_path: Path
) -> None:
    assert found(tmp_path, source, source_text, target, target_text) == []


@pytest.mark.parametrize(
    ("source", "source_text", "target", "target_text", "kinds"),
    [
        ("en", RUSSIAN, "ru", ENGLISH, {"en": "swapped", "ru": "swapped"}),
        ("en", JAPANESE, "ja", ENGLISH, {"en": "swapped", "ja": "swapped"}),
        ("zh", ENGLISH, "en", CHINESE, {"zh": "swapped", "en": "swapped"}),
        ("zh", ENGLISH, "ru", ENGLISH, {"zh": "language", "ru": "language"}),
        ("en", RUSSIAN, "ru", RUSSIAN, {"en": "language"}),
        ("ru", SERBIAN_IN_LATIN, "sr", RUSSIAN, {"ru": "swapped"}),
        ("xx", ENGLISH, "en", RUSSIAN, {"en": "language"}),
    ],
)
def test_a_side_in_no_script_of_its_language_is_named_and_told_from_swapped_sides(
    source: str, source_text: str, target: str, target_text: str, kinds: dict[str, str], tmp_path: Path
) -> None:
    assert {one.side: one.kind for one in found(tmp_path, source, source_text, target, target_text)} == kinds


def test_swapped_sides_are_said_to_look_so_with_the_share_of_letters_and_the_first_lines(tmp_path: Path) -> None:
    english, russian = found(tmp_path, "en", f"{RUSSIAN} Anna", "ru", ENGLISH)
    letters = sum(map(str.isalpha, RUSSIAN))
    assert (english.split, english.severity, english.count, english.total) == (
        "train", "warning", 15 * letters, 15 * (letters + 4)
    )  # fmt: skip
    assert english.places == ()  # every line has Latin letters too
    assert [place.line for place in russian.places] == [1, 2, 3, 4, 5]
    assert "the sides look swapped" in str(russian) and "Swap the two columns or files" in str(russian)
    assert [(place.file.name, place.shown) for place in russian.places[:1]] == [("train.ru", "Latin")]


def test_running_text_may_be_in_any_script(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    book.write_text("".join(f"{RUSSIAN} {number}\n" for number in range(30)), encoding="utf-8")
    assert not {one.kind for one in survey_corpus(text_splits([book])).findings} & {"swapped", "language"}


def test_every_script_of_the_table_is_one_that_letters_have() -> None:
    named = {script for first, second in product(ascii_lowercase, repeat=2) for script in scripts_of(first + second)}
    assert len(named) > 20
    assert named <= {script_of(chr(code)) for code in range(0x10000)}
