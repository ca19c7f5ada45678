"""Rules of findings; sides in other scripts than those of their languages; what is wrong with published corpora."""

from itertools import product
from pathlib import Path
from string import ascii_lowercase

import pytest

from anaphora.data.finding import Names
from anaphora.data.sources import text_splits, translation_splits
from anaphora.datacheck.findings import RULES, Finding, Place, Rule
from anaphora.datacheck.survey import survey_corpus
from anaphora.text.scripts import script_of, scripts_of

from .corpora import write

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "check.md"


def test_the_page_has_every_rule_with_its_thresholds() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert rows == [row(rule) for rule in RULES.values()]


def row(rule: Rule) -> str:
    if rule.warn_from > 1:
        share = "never a warning"
    elif rule.warn_from > rule.silent_below:
        share = f"warning from {rule.warn_from:.0%}"
    else:
        share = "warning"
    silent = f", silent below {100 * rule.silent_below:g}%" if rule.silent_below else ""
    return f"| `{rule.kind}` | {rule.what} | {share}{silent} |"


def test_a_share_decides_whether_a_fault_is_a_warning() -> None:
    rule = Rule("kind", 0.1, 0.01, "lines are odd", "Even them.")
    found = [rule.finding("train", "en", count, 1000) for count in (0, 9, 10, 99, 100)]
    assert [finding and finding.severity for finding in found] == [None, None, "note", "note", "warning"]
    assert str(found[2]) == "train, en: 10 of 1,000 lines are odd. Even them."


def test_a_file_is_named_once_and_the_rest_by_line() -> None:
    places = [Place(Path("a"), 1, "x"), Place(Path("a"), 7), Place(Path("b"), 2)]
    found = Rule("kind", 0, 0, "lines are odd", "Even them.").finding("", "", 4, 5, places)
    assert str(found) == "4 of 5 lines are odd [a:1 (x), 7, b:2, ...]. Even them."


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
    ("source", "source_text", "target", "target_text", "kinds"),
    [
        ("en", ENGLISH, "ru", f"{RUSSIAN} Anna", {}),
        ("en", ENGLISH, "sr", SERBIAN_IN_LATIN, {}),
        ("sr", SERBIAN, "ru", RUSSIAN, {}),
        ("en", ENGLISH, "ja", JAPANESE, {}),
        ("zh_Hans", CHINESE, "en-GB", ENGLISH, {}),
        ("xx", ENGLISH, "ru", RUSSIAN, {}),
        ("en", "12 %", "ru", "12 %", {}),
        ("en", RUSSIAN, "ru", ENGLISH, {"en": "swapped", "ru": "swapped"}),
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
    assert named <= {script_of(chr(code)) for code in range(0, 0x10000, 4)}


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
