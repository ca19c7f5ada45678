"""The page on renamed options lists every name and value that the upgrade of an experiment changes."""

from pathlib import Path

from anaphora.run.upgrade import GONE, NAMES, VALUES

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "reference" / "renamed-options.md").read_text(encoding="utf-8")


def dotted(table: str, option: str) -> str:
    return f"{table}.{option}" if table else option


OPTIONS = [
    f"| `{dotted(table, old)}` | " + ("removed" if new == GONE else f"`{dotted(table, new)}` |")
    for table, names in NAMES.items()
    for old, new in names.items()
]
CHANGED_VALUES = [
    f'| `{dotted(table, option)}` | `"{old}"` | `"{new}"` |'
    for (table, option), values in VALUES.items()
    for old, new in values.items()
]


def test_the_page_lists_every_renamed_option_and_value_and_nothing_else() -> None:
    assert [row for row in (*OPTIONS, *CHANGED_VALUES) if row not in PAGE] == []
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(rows) == len(OPTIONS) + len(CHANGED_VALUES)
