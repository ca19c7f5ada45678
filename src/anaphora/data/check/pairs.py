"""Faults that two sides show together."""

import re
from collections import Counter
from collections.abc import Iterator

LEAST_COPIED = 12
"""A shorter text may be a name, which is the same in many languages."""

_DIGIT = re.compile(r"\d")
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\)|\d+\$)?[-+#0]?\d*(?:\.\d+)?[sdifuxXcgeo@](?!\w)"  # printf, Python, Objective-C
    r"|%\{\w+\}|\$\{\w+\}|\{\{?[\w.:!]*\}?\}"  # Ruby, shells, Python and JavaScript
    r"|</?[A-Za-z][^<>]*>"  # tags
)


def faults(source: str, target: str) -> Iterator[tuple[str, str]]:
    """The kinds of fault that a pair has, and what shows each."""
    if source == target and len(source.strip()) >= LEAST_COPIED and any(map(str.isalpha, source)):
        yield "copied", ""
    placeholders = [Counter(_PLACEHOLDER.findall(side)) for side in (source, target)]
    if placeholders[0] != placeholders[1]:
        yield "placeholders", _difference(*placeholders)
    digits = [Counter(_digits(side)) for side in (source, target)]
    if digits[0] != digits[1]:
        yield "numbers", _difference(*digits)


def _digits(text: str) -> Iterator[str]:
    """The digits outside placeholders, in any script, as 0 to 9: grouping and order differ between languages."""
    return (str(int(digit)) for digit in _DIGIT.findall(_PLACEHOLDER.sub(" ", text)))


def _difference(source: Counter[str], target: Counter[str]) -> str:
    """What one side has and the other has not: "{0} | -"."""
    return " | ".join(" ".join(sorted(only.elements()))[:40] or "-" for only in (source - target, target - source))
