"""Every regular expression of the package takes time in proportion to its input, whatever that is."""

import ast
import re
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import product
from typing import Any

import pytest
import regex

from anaphora.tasks.translation import unmasking
from anaphora.text import joiner_tokens
from anaphora.text.text_rule import TextRule
from tests.package import code, tree_of

METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
SHORT, LONG = 1_250, 5_000


def patterns_in(value: object) -> Iterator[Any]:
    """The compiled patterns in a value of a module, and in its tuples and mappings."""
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif isinstance(value, dict | tuple | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from patterns_in(one)


MADE: dict[str, tuple[Any, tuple[str, ...]]] = (
    {
        f"anaphora.text.joiner_tokens._pattern({language})": (joiner_tokens._pattern(language), ("findall",))
        for language in ("en", "de", *sorted(joiner_tokens._BEGINS_WORD)[:1], *sorted(joiner_tokens._ENDS_WORD)[:1])
    }
    | {
        f"anaphora.text.text_rule.substitutions({number})": (pattern, ("sub",))
        for number, (pattern, _) in enumerate(TextRule().substitutions)
    }
    | {
        f"anaphora.tasks.translation.unmasking._copies({kept})": (unmasking._copies(kept), ("sub",))
        for kept in (("%s", "{a}", "aa", "--a"), ("a", "ab", "a b", "%", "..."))
    }
)
"""Patterns that a function makes, by function and argument."""

IN_A_TABLE = "anaphora.formats.documents._document"
"""The function whose patterns are all in a tuple of its module, which matches them."""


def places() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package that has patterns, and its syntax tree."""
    for place, text in code().items():
        if "import re\n" in text or "import regex\n" in text:
            module = f"anaphora/{place}".removesuffix(".py").replace("/", ".").removesuffix(".__init__")
            yield module, tree_of(place)


def calls_of(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """The calls of ``re.NAME`` and ``regex.NAME``."""
    for node in ast.walk(tree):
        function = getattr(node, "func", None)
        module = getattr(getattr(function, "value", None), "id", "")
        if isinstance(node, ast.Call) and module in ("re", "regex") and getattr(function, "attr", "") in names:
            yield node


def used_patterns() -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Every pattern of the package, with the methods of it that its module calls."""
    yield from ((name, *row) for name, row in MADE.items())
    for place, tree in places():
        for call in calls_of(tree, *METHODS):
            pattern, method = ast.literal_eval(call.args[0]), ast.unparse(call.func).split(".")
            yield f"{place}:{pattern}", (re if method[0] == "re" else regex).compile(pattern), (method[1],)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        of_table = {"match"} if IN_A_TABLE.startswith(f"{place}.") else None
        for name, value in vars(import_module(place)).items():
            own = {node.attr for node in calls if isinstance(node.value, ast.Name) and node.value.id == name}
            anybody = of_table or {node.attr for node in calls if node.attr in METHODS}
            for number, pattern in enumerate(patterns_in(value)):
                methods = tuple(sorted(own.intersection(METHODS) or anybody.intersection(METHODS)))
                yield f"{place}.{name}[{number}]", pattern, methods


def test_no_function_makes_a_pattern_that_is_not_tried() -> None:
    made = {
        f"{place}.{function.name}"
        for place, tree in places()
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and any(calls_of(function, "compile"))
    }
    assert made == {IN_A_TABLE, *(name.split("(")[0] for name in MADE)}


def letters_of(pattern: str) -> list[str]:
    """A few characters that a pattern may stop at, go over, or fail on."""
    plain = re.sub(r"\\[a-zA-Z]", "", pattern)
    own = [one for one in dict.fromkeys(plain) if one not in "?*+|^$"]
    return list(dict.fromkeys([*own[:: max(1, len(own) // 6)], " ", "a", "1"]))


def seconds(pattern: Any, methods: tuple[str, ...], letters: str) -> float:
    text = letters.encode() if isinstance(pattern.pattern, bytes) else letters
    nothing = text[:0]
    began = time.process_time()
    for method in methods:
        if method in ("sub", "subn"):
            pattern.sub(nothing, text)
        elif method == "finditer":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, method)(text)
    return time.process_time() - began


@pytest.mark.matrix
@pytest.mark.parametrize(("name", "pattern", "methods"), [pytest.param(*row, id=row[0]) for row in used_patterns()])
def test_four_times_the_text_takes_about_four_times_as_long(name: str, pattern: Any, methods: tuple[str, ...]) -> None:
    written = pattern.pattern
    letters = letters_of(written.decode("latin-1") if isinstance(written, bytes) else written)
    repeated = [*letters, *map("".join, product(letters[:3], repeat=2))]
    for before, middle, after in product(["", *letters[:2]], repeated, ["", "\x00"]):
        # anything but a pattern that goes over its text again and again is through in a millisecond
        if seconds(pattern, methods, before + middle * (LONG // len(middle)) + after) < 0.02:
            continue
        times = [
            min(seconds(pattern, methods, before + middle * (length // len(middle)) + after) for _ in range(3))
            for length in (SHORT, LONG)
        ]
        assert times[1] < max(0.02, 9 * times[0]), (name, before, middle, after)
