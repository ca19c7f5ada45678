"""Documents, help, settings, recipes and messages use the field's standard terms, and numbers that agree with nouns."""

import ast
import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from anaphora.datacheck.findings import RULES
from anaphora.wording import agreeing, inflect
from tests.package import ROOT, code, docstrings_of, nodes_of, strings_of
from tests.site import COMMANDS, printed

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"]

DRIFTED = tomllib.loads(Path(__file__).with_name("drifted_terms.toml").read_text(encoding="utf-8"))
"""What is not said any more, and what is."""
ANY = re.compile("|".join(DRIFTED), re.IGNORECASE)


def drifted(text: str) -> list[str]:
    """The drifted terms of a text, each with what to say instead."""
    line = " ".join(text.split())
    return [
        f"{match.group()!r}: say {term}"
        for pattern, term in (DRIFTED.items() if ANY.search(line) else ())
        for match in re.finditer(pattern, line, re.IGNORECASE)
    ]


def said(place: str) -> Iterator[str]:
    """The texts of a file: strings of two words or more that are no docstrings, and the sentences under options."""
    yield from (text for text in strings_of(place) if " " in text.strip())
    for node in nodes_of(place, ast.ClassDef):
        for before, after in pairwise(node.body):
            if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
                yield ast.unparse(after.value)


BY_CONTEXT = {
    *("token", "special tokens", "character CNN embedding", "interpolation", "metric, score"),
    *("fraction, probability", "reports, receives", "encoder, decoder, readout"),
}
"""What to say instead of words that have another meaning in some docstring: recurrent units, combining marks, plots."""


def without_code(page: Path) -> str:
    """Return the prose of a page."""
    return re.sub(r"```.*?```|`[^`\n]*`|^ {4}.*$|^\| `.*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def test_pages_use_standard_terms() -> None:
    assert {page.name: found for page in PAGES if (found := drifted(without_code(page)))} == {}


def test_messages_use_standard_terms() -> None:
    messages = {text: place for place in code() for text in said(place)}
    assert {(place, text): found for text, place in messages.items() if (found := drifted(text))} == {}


def test_docstrings_use_standard_terms() -> None:
    found = [(place, term) for place in code() for text in docstrings_of(place) for term in drifted(text)]
    assert [(place, term) for place, term in found if term.partition(": say ")[2] not in BY_CONTEXT] == []


@pytest.mark.parametrize("command", ["settings", "recipes"])
def test_what_a_command_lists_uses_standard_terms(command: str) -> None:
    assert drifted(printed(command)) == []


def help_lines() -> dict[str, str]:
    """The first sentence of every command and every help text of an option, without its default."""
    lines = {verb: (command.help or "").split("\n\n")[0] for verb, command in COMMANDS.items()}
    for verb, command in COMMANDS.items():
        for option in command.params:
            text = getattr(option, "help", None) or ""
            lines[f"{verb} {option.name}"] = re.sub(r" ?\[default: .*\]$", "", " ".join(text.split()))
    return lines


def test_a_help_line_uses_standard_terms() -> None:
    lines = help_lines() | {verb: command.help or "" for verb, command in COMMANDS.items()}
    assert {place: found for place, line in lines.items() if (found := drifted(line))} == {}


def test_a_help_line_has_at_most_80_characters() -> None:
    assert {place: line for place, line in help_lines().items() if len(line) > 80} == {}


def test_a_help_line_begins_with_an_imperative_or_a_noun() -> None:
    openings = ("what ", "how ", "where ", "so ")
    assert {place: line for place, line in help_lines().items() if line.lower().startswith(openings)} == {}


NOUNS = (
    "bytes|characters|checkpoints|classes|columns|epochs|fields|hypotheses|lines|minutes|outputs|pairs|predictions|"
    "references|seconds|sentences|sources|texts|threads|tokens|translations|units|updates|words"
)
BARE = re.compile(rf'f"[^"]*\{{(?!inflect)([^{{}}"]+)\}} (?:{NOUNS})\b')
LARGE = re.compile(
    r"MEGABYTE|LIMIT|LONGEST|MOST|LARGEST|MAX_|SHORTEST|WIDTH|bytes|size|^tokens|most|width|^rows|_per_second|^:|tolist"
)
"""What is never 1, such as sizes of vocabularies, batches and files; templates of options; lists."""


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "line", "1 line"),
        (2000, "source token", "2,000 source tokens"),
        (3, "hypothesis", "3 hypotheses"),
        (2, "class", "2 classes"),
        (2, "vocabulary", "2 vocabularies"),
        (2, "epoch", "2 epochs"),
    ],
)
def test_a_noun_agrees_with_its_number(count: int, noun: str, text: str) -> None:
    assert inflect(count, noun) == text


def test_every_rule_of_the_data_check_agrees_with_one_line() -> None:
    for rule in RULES.values():
        assert agreeing(2, rule.what) == rule.what != agreeing(1, rule.what), rule.kind


def test_no_message_puts_a_plural_noun_behind_a_bare_number() -> None:
    found = [
        f"{place}: {match.group()}"
        for place, text in code().items()
        for match in BARE.finditer(text)
        if not LARGE.search(match.group(1))
    ]
    assert not found, "\n".join(found)
