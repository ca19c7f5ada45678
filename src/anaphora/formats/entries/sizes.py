"""Sizes that an XLIFF document allows a translation, as far as they can be measured.

1.2: ``maxwidth``, ``maxheight``, ``maxbytes`` and their minima, of a ``trans-unit`` or the nearest ``group`` around it
that has them; widths and heights are in ``size-unit``, by default pixels. 2: the size and length restriction module,
by which all text of a ``file``, ``group`` or ``unit`` has a size together; where no profile says how, it is counted in
characters and in bytes of UTF-8.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import ge, le

_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_RESTRICTION = re.compile(r"(?:([0-9]{1,9}),)?(?:([0-9]{1,9})|\*)")


def _bytes_of(encoding: str) -> Callable[[str], int]:
    return lambda text: len(text.encode(encoding))


def _glyphs(text: str) -> int:
    """Letters with their accents; more than there are of emoji that are joined."""
    return sum(unicodedata.category(character) not in ("Mn", "Me", "Cf") for character in text)


_UNITS: Mapping[str, Callable[[str], int]] = {"char": len, "byte": _bytes_of("utf-8"), "glyph": _glyphs}
_PROFILES: Mapping[str, Callable[[str], int]] = {
    "xliff:codepoints": len,
    **{f"xliff:utf{bits}": _bytes_of(f"utf-{bits}-le" if bits > 8 else "utf-8") for bits in (8, 16, 32)},
}
_RESTRICTIONS = {
    "sizeRestriction": ("generalProfile", "xliff:codepoints"),
    "storageRestriction": ("storageProfile", "xliff:utf8"),
}


@dataclass
class Level:
    """An open element around a text."""

    attributes: Mapping[str, str]
    profiles: dict[str, str] = field(default_factory=dict)
    """Those that it declares for the restrictions in it."""
    texts: int = 0
    """Segments in it so far."""


def fits(levels: Sequence[Level], text: str) -> bool | None:
    """Whether all ``levels``, the outermost first, allow a text of that size; None where that cannot be measured."""
    found = [*_of_version_1(levels, text), *_of_version_2(levels, text)]
    return False if False in found else None if None in found else True


def _of_version_1(levels: Sequence[Level], text: str) -> Iterator[bool | None]:
    attributes = {name: value for level in levels for name, value in level.attributes.items()}
    units = {"width": _UNITS.get(attributes.get("size-unit", "")), "height": None, "bytes": _UNITS["byte"]}
    for dimension, measure in units.items():
        size = measure(text) if measure else None
        for side, compare in {"min": ge, "max": le}.items():
            bound = attributes.get(side + dimension, "")
            if _NUMBER.fullmatch(bound):
                yield None if size is None else compare(size, int(bound))


def _of_version_2(levels: Sequence[Level], text: str) -> Iterator[bool | None]:
    profiles = {name: value for level in levels for name, value in level.profiles.items()}
    for level in levels:
        for name, value in level.attributes.items():
            kind, usual = _RESTRICTIONS.get(name.rpartition(":")[2], ("", ""))
            restriction = _RESTRICTION.fullmatch(value.replace(" ", ""))
            if not kind or not restriction:
                continue
            measure = _PROFILES.get(profiles.get(kind) or usual)
            size = measure(text) if measure else None
            least, most = (None if bound is None else int(bound) for bound in restriction.groups())
            if size is not None and most is not None and size > most:
                yield False
            elif (least, most) != (None, None):
                yield None if size is None or level.texts > 1 else size >= (least or 0)
