from pathlib import Path

from anaphora.datacheck.findings import RULES, Place, Rule

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check.md"


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
    return f"| `{rule.kind}` | {rule.what} | {share}{silent} | {rule.remedy} |"


def test_a_share_decides_whether_a_fault_is_a_warning() -> None:
    rule = Rule("kind", 0.1, 0.01, "lines are odd", "Even them.")
    found = [rule.finding("train", "en", count, 1000) for count in (0, 9, 10, 99, 100)]
    assert [finding and finding.severity for finding in found] == [None, None, "note", "note", "warning"]
    assert str(found[2]) == "train, en: 10 of 1,000 lines are odd. Even them."


def test_a_file_is_named_once_and_the_rest_by_line() -> None:
    places = [Place(Path("a"), 1, "x"), Place(Path("a"), 7), Place(Path("b"), 2)]
    found = Rule("kind", 0, 0, "lines are odd", "Even them.").finding("", "", 4, 5, places)
    assert str(found) == "4 of 5 lines are odd [a:1 (x), 7, b:2, ...]. Even them."
