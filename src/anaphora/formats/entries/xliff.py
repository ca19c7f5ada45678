"""Documents on their way through translation: XLIFF 1.2 (OASIS 2008) and 2.0 to 2.2 (OASIS 2014 on).

1.2: a ``trans-unit`` is a pair where it is approved, its state is that of a translation, or it has no state and is not
declared unapproved. 2: a ``segment``, unless its state is initial. Proposals (``alt-trans``, ``match``) are none, and
what is not to be translated is left out.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import ge, le
from typing import NamedTuple

from anaphora.formats.entries.entry import Content, Edit, Entry, Gap, Reason, matches, one_line, pairs
from anaphora.formats.entries.markup import Attributes, Markup, after, fill, space_before, start_tag, with_attribute

_TRANSLATED = {"translated", "final", "signed-off", "reviewed"}
"""States of a text that someone has translated."""
_UNTOUCHED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
"""States of a text that nobody has, in whose place there may be a copy of the source."""
_UNIT = {"trans-unit": "1.2", "segment": "2"}
_TRANSLATE = "translate"
_TEXTS = ("source", "target", "seg-source")
_PROFILE_NAMES = ("generalProfile", "storageProfile")


class _Segment(NamedTuple):
    line: int
    begin: int
    attributes: Attributes
    contents: dict[str, Content]
    """Its texts, by the names of their elements."""


class Xliff(Markup):
    """The entries of a document."""

    natives = frozenset(("bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp", "sm", "em"))

    def begins(self, name: str, attributes: Attributes, at: int) -> bool:
        if len(self.stack) == 1:
            self._root, self._root_begin = attributes, at
            self._languages = attributes.get("srcLang", ""), attributes.get("trgLang", "")
            self._translate = [True]
            self._levels = list[Level]()
        elif name == "file":
            self._languages = (
                attributes.get("source-language", self._root.get("srcLang", "")),
                attributes.get("target-language", self._root.get("trgLang", "")),
            )
        elif not name and self._levels:
            self._levels[-1].profiles.update({key: attributes[key] for key in _PROFILE_NAMES if key in attributes})
        self._levels.append(Level(attributes))
        if name in (*_UNIT, "ignorable"):
            for level in self._levels:
                level.texts += 1
        if name in _UNIT:
            self._open_segment = _Segment(self.line, at, attributes, {})
            self._states: Attributes = {}
        self._translate.append({"no": False, "yes": True}.get(attributes.get(_TRANSLATE, ""), self._translate[-1]))
        gathered = name in _TEXTS and len(self.stack) > 1 and self.stack[-2] in _UNIT
        if gathered:
            if name == "target":
                self._states = attributes
            self._translate.pop()  # its inner elements are not seen here
            self._levels.pop()
        return gathered

    def ends(self, name: str, content: Content | None, at: int) -> None:
        if content is not None:
            self._open_segment.contents.setdefault(name, content)
            return
        if name in _UNIT:
            self.entries += self._segment(name, self._open_segment)
        self._translate.pop()
        self._levels.pop()

    def is_protected(self, name: str, attributes: Attributes) -> bool:
        return name in ("mrk", "sm") and (attributes.get("mtype") == "protected" or attributes.get(_TRANSLATE) == "no")

    def _segment(self, name: str, segment: _Segment) -> list[Entry]:
        source, target = segment.contents.get("source"), segment.contents.get("target")
        if source is None or not source.text.strip():
            return [Entry(segment.line, "", "", Reason.EMPTY)]
        if not self._translate[-1]:
            return [Entry(segment.line, "", "", Reason.NOT_FOR_TRANSLATION)]
        wanted = zip(self._languages, (self.source, self.target), strict=True)
        if not all(matches(there, asked) or not there for there, asked in wanted):
            return [Entry(segment.line, "", "", Reason.OTHER_LANGUAGES)]
        state = self._states.get("state", segment.attributes.get("state", ""))
        copied = target is not None and state in _UNTOUCHED and target.text.strip() == source.text.strip()
        if target is None or not target.text.strip() or copied:
            text = one_line(source.text)
            if state in _TRANSLATED or segment.attributes.get("approved") == "yes":
                return [Entry(segment.line, text, "", Reason.UNTRANSLATED)]
            shape = segment.contents.get("seg-source", source)
            whole = segment._replace(contents=dict(segment.contents))  # whatever follows in a document that is odd
            gap = Gap(shape.runs, partial(self._fill, name, whole), partial(fits, tuple(self._levels)))
            return [Entry(segment.line, text, "", Reason.UNTRANSLATED, gap)]
        approved = segment.attributes.get("approved", "")
        if approved != "yes" and state not in _TRANSLATED and (state or approved == "no"):
            return [Entry(segment.line, one_line(source.text), "", Reason.UNAPPROVED)]
        return [Entry(segment.line, *pair) for pair in pairs(source, target)]

    def _fill(self, name: str, segment: _Segment, content: bytes, texts: Sequence[str]) -> list[Edit]:
        source, target = segment.contents["source"], segment.contents.get("target")
        shape = segment.contents.get("seg-source", source)
        tag = b"<" + (self._prefix + ":" if self._prefix else "").encode() + b"target>"
        end = tag.replace(b"<", b"</")
        if target is not None:
            tag = start_tag(content, target.begin)
            tag = tag[:-2].rstrip() + b">" if tag.endswith(b"/>") else tag
        edits = []
        if _UNIT[name] == "1.2":
            tag = with_attribute(tag, "state", "needs-review-translation")
        else:
            old = start_tag(content, segment.begin)
            edits.append(Edit(segment.begin, segment.begin + len(old), with_attribute(old, "state", "translated")))
        translation = tag + fill(content, shape, texts) + end
        if target is not None:
            return [*edits, Edit(target.begin, after(content, target), translation)]
        place = max(after(content, source), after(content, shape))
        return [*edits, Edit(place, place, space_before(content, source.begin) + translation)]

    def declare_edits(self, content: bytes) -> list[Edit]:
        """Return the declarations of a document that now has translations: in version 2 their language."""
        if "srcLang" not in self._root or "trgLang" in self._root:
            return []
        tag = start_tag(content, self._root_begin)
        return [Edit(self._root_begin, self._root_begin + len(tag), with_attribute(tag, "trgLang", self.target))]


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
    """True if all ``levels``, the outermost first, allow a text of that size; None where that cannot be measured.

    1.2: ``maxwidth``, ``maxheight``, ``maxbytes`` and their minima, of a ``trans-unit`` or the nearest ``group`` around
    it that has them; widths and heights are in ``size-unit``, by default pixels. 2: the size and length restriction
    module, by which all text of a ``file``, ``group`` or ``unit`` has a size together; where no profile says how, it is
    counted in characters and in bytes of UTF-8.
    """
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
