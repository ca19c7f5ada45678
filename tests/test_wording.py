"""Numbers in messages agree with their nouns and verbs, and no message puts a plural noun behind a bare number."""

import re

import pytest

from anaphora.datacheck.findings import RULES
from anaphora.wording import agreeing, inflect
from tests.package import code

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
