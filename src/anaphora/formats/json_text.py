"""JSON: files of people, read within bounds, with strings that can be written as text; and results as JSON."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeVar

from anaphora.errors import DataError
from anaphora.formats.lines import BOM, bound_lines, whole

T = TypeVar("T", dict[str, Any], list[Any])

LARGEST = 1 << 28
"""Bytes of the largest document, and characters of the largest array, which are read as a whole."""
_NEXT = re.compile(r"[^ \t\r\n,]")
_STRINGS = re.compile(r'\[\s*"')
"""Beginning of an array of strings."""
_SPACE = " \t\r\n"
"""White space of JSON; U+2028 and the like are none."""
_UNWRITABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""Escapes of a NUL, and of halves of characters, which two of them make."""


def json_objects(lines: Iterable[str], where: str, *, arrays: bool = False) -> Iterator[tuple[int, str, Any]]:
    """Yield the objects of JSON lines, each with the number and the text of its line; or those of one array.

    With ``arrays``, arrays of strings may take the places of objects. Errors as for ``any_json``.
    """
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        content, place = line.removeprefix(BOM).strip(_SPACE), f"{where}:{number}"
        is_row = arrays and _STRINGS.match(content)
        if content.startswith("[") and not is_row:
            pieces = [*bound_lines(chain([content], (other for _, other in numbered)), place, LARGEST)]
            whole, ends = "".join(pieces), [*accumulate(map(len, pieces))]
            parsed_json(whole, place, list)  # which names what is wrong
            decode, end = json.JSONDecoder().raw_decode, 1
            while (found := _NEXT.search(whole, end)) and found.group() != "]":
                item, end = decode(whole, found.start())
                line_of = number + bisect_right(ends, found.start())
                if not (isinstance(item, dict) or (arrays and isinstance(item, list))):
                    raise DataError(f"{where}:{line_of} should be an object of an array, but is {item!r:.40}.")
                yield line_of, json.dumps(item, ensure_ascii=False) + "\n", item
            return
        if content.strip():
            yield number, line, any_json(content, place) if is_row else parsed_json(content, place, dict)


def parsed_json(content: str, place: str, kind: type[T]) -> T:
    """Return the object or array, whichever ``kind`` is, that the text from ``place`` holds.

    Errors as for ``any_json``.
    """
    found = any_json(content, place)
    if not isinstance(found, kind):
        name = "object" if kind is dict else "array"
        raise DataError(f"{place} should be a JSON {name}, but is {content.strip()[:40]}. Correct the line.")
    return found


def any_json(content: str, place: str) -> Any:
    """Parse the JSON text from ``place``.

    Raises DataError for what is no JSON, for nesting that no parser goes through, and for strings with a NUL or with
    half a surrogate pair, which no text has.
    """
    try:
        found = json.loads(content)
        if _UNWRITABLE.search(content):
            _check(found)
    except (ValueError, RecursionError) as error:
        what = "is nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(f"{place} should be JSON, but is not ({what}). Correct it.") from None
    return found


def json_document(path: Path) -> Any:
    """Parse a file of one JSON document, gzipped or not.

    Raises DataError as ``any_json`` and ``formats.lines.read_unpacked``, for one of more than ``LARGEST`` bytes, and
    for one that is not in UTF-8.
    """
    content = whole(path, LARGEST, " of JSON: split it into several files")
    try:
        return any_json(content.decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path} should be UTF-8, but is not ({error.reason}): convert it.") from None


def _check(value: object) -> None:
    """Raise ValueError for a string in a value that cannot be written as text."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a string has a NUL")
        value.encode()  # whose error is a ValueError, too
    elif isinstance(value, dict | list):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            _check(one)


LN_10 = math.log(10)
"""Logarithms are natural inside, and to base 10 in the files of other toolkits."""


@dataclass(frozen=True)
class Jsonable:
    """A dataclass that is its own JSON object."""

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        return asdict(self)


def attributes(one: object, *names: str) -> dict[str, Any]:
    """Return these attributes of an object by their names, a part of its JSON object."""
    return {name: getattr(one, name) for name in names}


def figures_as_json(figures: Any, *, indent: int | None = None) -> str:
    """Return the JSON text of objects, lists and values; null stands for NaN and for what is infinite."""
    return json.dumps(_finite(figures), ensure_ascii=False, allow_nan=False, indent=indent)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list | tuple) else value
