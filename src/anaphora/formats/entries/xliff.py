"""Documents on their way through translation: XLIFF 1.2 (OASIS 2008) and 2.0 to 2.2 (OASIS 2014 on).

1.2: a ``trans-unit`` is a pair where it is approved, its state is that of a translation, or it has no state and is not
declared unapproved. 2: a ``segment``, unless its state is initial. Proposals (``alt-trans``, ``match``) are none, and
what is not to be translated is left out.

A ``trans-unit`` that is divided (``mrk`` of the type ``seg``) has an entry for every segment. States of other programs
go before those of the standard: ``sdl:seg`` of Trados (SDLXLIFF), ``mq:status`` of memoQ, ``m:confirmed`` of Phrase.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from anaphora.formats.entries.entry import Content, Edit, Entry, Gap, Put, Reason, Run, matches, one_line, pairs
from anaphora.formats.entries.markup import Attributes, Markup, after, fill, space_before, start_tag, with_attributes

_TRANSLATED = {"translated", "final", "signed-off", "reviewed"}
"""States of a text that someone has translated."""
_UNTOUCHED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
"""States of a text that nobody has, in whose place there may be a copy of the source."""
_CONFIRMED = {
    "conf": re.compile("Translated|Approved.*"),
    "status": re.compile(".*(?:Confirmed|Proofread).*"),
    "confirmed": re.compile(r"[1-9]\d*|true"),
}
"""Values of attributes of other programs, by their local names, for texts that a person has confirmed."""
_BEGUN = re.compile("|NotStarted")
_MACHINE = re.compile("[an]?mt")
_LOCKED = re.compile("true|yes|locked")
_SIMILAR = {"state": "initial", "subState": "anaphora:fuzzy-match"}
_DRAFT = {"conf": "Draft", "origin": "mt"}
_UNIT = ("trans-unit", "segment")
_TRANSLATE = "translate"
_TEXTS = ("source", "target", "seg-source")
_PROFILE_NAMES = ("generalProfile", "storageProfile")


class _Unit(NamedTuple):
    """A ``trans-unit`` or ``segment``."""

    name: str
    line: int
    begin: int
    attributes: Attributes
    contents: dict[str, Content]
    """Texts by the names of their elements."""
    undeclared: Mapping[int, Attributes]
    """Attributes that the element around it, at this place, lacks to name the language of targets."""
    definitions: dict[str, tuple[int, Attributes]]
    """Places and attributes of the elements (``sdl:seg``) that describe its segments, by their ids."""

    @property
    def shape(self) -> Content:
        """The source as its target is to be."""
        return self.contents.get("seg-source", self.contents["source"])

    @property
    def segments(self) -> Mapping[str, Content]:
        """The segments of its source; none where there are none, or its target is not divided."""
        target, segments = self.contents.get("target"), self.shape.segments
        if target is None or not target.text.strip():
            return segments
        return segments if target.segments and target.segments.keys() <= segments.keys() else {}


class Xliff(Markup):
    """The entries of a document."""

    natives = frozenset(("bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp", "sm", "em"))
    _unit: _Unit
    _states: Attributes

    def begins(self, name: str, attributes: Attributes, at: int) -> bool:
        if len(self.stack) == 1:
            self._root = attributes
            self._declare(attributes, at, "srcLang", "trgLang")
            self._levels = list[Level]()
        elif name == "file" and "srcLang" not in self._root:
            self._declare(attributes, at, "source-language", "target-language")
        elif not name and self._levels:
            if self.qualified.endswith(":seg") and "trans-unit" in self.stack:
                self._unit.definitions[attributes.get("id", "")] = at, attributes
            self._levels[-1].profiles.update({key: attributes[key] for key in _PROFILE_NAMES if key in attributes})
        if name in _TEXTS and len(self.stack) > 1 and self.stack[-2] in _UNIT:
            self._states = attributes if name == "target" else self._states
            return True  # its inner elements are not seen here
        is_translatable = not self._levels or self._levels[-1].is_translatable
        is_translatable = {"no": False, "yes": True}.get(attributes.get(_TRANSLATE, ""), is_translatable)
        self._levels.append(Level(attributes, is_translatable))
        if name in (*_UNIT, "ignorable"):
            for level in self._levels:
                level.texts += 1
        if name in _UNIT:
            self._unit = _Unit(name, self.line, at, attributes, {}, self._undeclared, {})
            self._states = {}
        return False

    def ends(self, name: str, content: Content | None, at: int) -> None:
        if content is not None:
            self._unit.contents.setdefault(name, content)
            return
        if name in _UNIT:
            self.entries += self._entries(self._unit)
        self._levels.pop()

    def _declare(self, attributes: Attributes, at: int, source: str, target: str) -> None:
        """Take the languages that an element declares by these attributes."""
        self._languages = attributes.get(source, ""), attributes.get(target, "")
        self._undeclared: Mapping[int, Attributes] = {} if self._languages[1] else {at: {target: self.target}}

    def is_protected(self, name: str, attributes: Attributes) -> bool:
        hidden = attributes.get("mtype") in ("protected", "x-sdl-deleted") or attributes.get(_TRANSLATE) == "no"
        return name in ("mrk", "sm") and hidden

    def segment_id(self, name: str, attributes: Attributes) -> str | None:
        return attributes.get("mid", "") if name == "mrk" and attributes.get("mtype") == "seg" else None

    def _entries(self, unit: _Unit) -> list[Entry]:
        source, target = unit.contents.get("source"), unit.contents.get("target")
        if source is None or not source.text.strip():
            return [Entry(unit.line, "", "", Reason.EMPTY)]
        if not self._levels[-1].is_translatable:
            return [Entry(unit.line, "", "", Reason.NOT_FOR_TRANSLATION)]
        wanted = zip(self._languages, (self.source, self.target), strict=True)
        if not all(matches(there, asked) or not there for there, asked in wanted):
            return [Entry(unit.line, "", "", Reason.OTHER_LANGUAGES)]
        unit = unit._replace(contents=dict(unit.contents))  # whatever follows in a document that is odd
        segments, put, entries = unit.segments, partial(self._fill, unit), list[Entry]()
        self._levels[-1].texts = len(segments) or self._levels[-1].texts
        fit = partial(fits, tuple(self._levels))
        for name, segment in (segments or {"": source}).items():
            there = target.segments.get(name) if target and segments else target
            shape = segment if segments else unit.shape
            if segment.text.strip():
                entries += self._pairs(unit, segment, there, Gap(shape.runs, put, fit, shape.codes), name)
        return entries

    def _pairs(self, unit: _Unit, source: Content, target: Content | None, gap: Gap, segment: str) -> list[Entry]:
        """Return the entries of a unit, or of a segment of it, with this gap if there is one."""
        _, described = unit.definitions.get(segment, (0, unit.attributes))
        state, is_locked = _foreign_state(described, segment in unit.definitions)
        approved = "" if state else unit.attributes.get("approved", "")
        state = state or self._states.get("state", unit.attributes.get("state", ""))
        text = one_line(source.text)
        copied = target is not None and state in _UNTOUCHED and target.text.strip() == source.text.strip()
        if target is None or not target.text.strip() or copied:
            if is_locked:
                return [Entry(unit.line, text, "", Reason.NOT_FOR_TRANSLATION)]
            is_done = state in _TRANSLATED or approved == "yes"
            return [Entry.untranslated(unit.line, text, None if is_done else gap)]
        if approved != "yes" and state not in _TRANSLATED and (state or approved == "no"):
            return [Entry(unit.line, text, "", Reason.UNAPPROVED)]
        return [Entry(unit.line, *pair) for pair in pairs(source, target)]

    def _fill(self, unit: _Unit, content: bytes, put: Put, similar: Mapping[Run, int]) -> list[Edit]:
        target, segments = unit.contents.get("target"), unit.segments
        filled = {name for name, segment in segments.items() if not put.keys().isdisjoint(segment.runs)}
        changes = dict(unit.undeclared)
        for name in filled & unit.definitions.keys():
            percent = similar.get(segments[name].runs[0])
            changes[unit.definitions[name][0]] = _DRAFT | ({"origin": "tm", "percent": f"{percent}"} if percent else {})
        is_similar, state = not similar.keys().isdisjoint(put), dict[str, str]()
        if unit.name == "segment":
            changes[unit.begin] = _SIMILAR if is_similar else {"state": "translated"}
        elif not (unit.definitions and unit.shape.segments):
            state = {"state": "needs-review-translation"} | ({"state-qualifier": "fuzzy-match"} if is_similar else {})
            statuses = (name for name, value in unit.attributes.items() if value == "NotStarted" and ":status" in name)
            changes[unit.begin] = dict.fromkeys(statuses, "Pretranslated")
        if target is not None and segments and target.segments:
            changes[target.begin] = state
            edits = _fill_divided(content, segments, target, put)
        else:
            source = unit.contents["source"]
            tag = self.tag("target")
            empty = [one for name, one in segments.items() if name not in filled and one.text.strip()]
            text = fill(content, unit.shape, put, empty) + tag.replace(b"<", b"</")
            if target is None:
                begin = end = max(after(content, source), after(content, unit.shape))
                tag = space_before(content, source.begin) + with_attributes(tag, state)
            else:
                begin, end = target.begin, after(content, target)
                tag = with_attributes(_open_tag(content, target), state)
            edits = [Edit(begin, end, tag + text)]
        for at, attributes in changes.items():
            old = start_tag(content, at)
            edits.append(Edit(at, at + len(old), with_attributes(old, attributes)))
        return edits


def _fill_divided(content: bytes, segments: Mapping[str, Content], target: Content, put: Put) -> list[Edit]:
    """Return the edits that put translations of segments into a target that has segments, perhaps not all of them."""
    edits, place = list[Edit](), target.begin + len(start_tag(content, target.begin))
    before: Content | None = None  # the segment before, if the target has that or one in front of it
    for name, segment in segments.items():
        there = target.segments.get(name)
        own = {place: one for place, one in put.items() if segment.begin < place.begin <= segment.end}
        text = fill(content, segment, own) + content[segment.end : after(content, segment)]
        if own and there:
            edits.append(Edit(there.begin, after(content, there), _open_tag(content, there) + text))
        elif own:
            begin = after(content, before or segment)
            around = content[begin : content.index(b"<", begin)]
            space, whole = b"" if around.strip() else around, start_tag(content, segment.begin) + text
            edits.append(Edit(place, place, space + whole if before else whole + space))
        place = after(content, there) if there else place
        before = segment if there or before else None
    return edits


def _open_tag(content: bytes, element: Content) -> bytes:
    """Return the start tag of an element as one that is not empty."""
    tag = start_tag(content, element.begin)
    return tag[:-2].rstrip() + b">" if tag.endswith(b"/>") else tag


def _foreign_state(attributes: Attributes, is_description: bool) -> tuple[str, bool]:
    """Return the state that attributes of other programs stand for, empty for none, and True for a locked text."""
    found = {name.rpartition(":")[2]: value for name, value in attributes.items() if is_description or ":" in name}
    if is_description:
        found.setdefault("conf", "")
    is_locked = bool(_LOCKED.fullmatch(found.get("locked", "")))
    for name in filter(found.__contains__, _CONFIRMED):
        is_machine = found[name] == "Translated" and _MACHINE.fullmatch(found.get("origin", ""))
        if _CONFIRMED[name].fullmatch(found[name]) and not is_machine:
            return "translated", is_locked
        return "new" if _BEGUN.fullmatch(found[name]) else "needs-review-translation", is_locked
    return "", is_locked


_NUMBER = re.compile(r"\s*[0-9]{1,9}\s*")
_RESTRICTION = re.compile(r"(?:([0-9]{1,9}),)?(?:([0-9]{1,9})|\*)")


def _bytes_of(encoding: str) -> Callable[[str], int]:
    return lambda text: len(text.encode(encoding))


def _glyphs(text: str) -> int:
    """Letters with their accents; more than there are of emoji that are joined."""
    return sum(unicodedata.category(character) not in ("Mn", "Me", "Cf") for character in text)


_Limit = tuple[Callable[[str], int] | None, Sequence[str | None], int]
"""A measure if there is one, the bounds of a size, and the number of texts that have it together."""
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

    attributes: Attributes
    is_translatable: bool
    profiles: dict[str, str] = field(default_factory=dict)
    """Profiles that it declares for the restrictions in it."""
    texts: int = 0
    """Segments in it so far."""


def fits(levels: Sequence[Level], text: str) -> bool | None:
    """True if all ``levels``, the outermost first, allow a text of that size; None where that cannot be measured.

    1.2: ``maxwidth``, ``maxheight``, ``maxbytes`` and their minima, of a ``trans-unit`` or the nearest ``group`` around
    it that has them; widths and heights are in ``size-unit``, by default pixels. 2: the size and length restriction
    module, by which all text of a ``file``, ``group`` or ``unit`` has a size together; where no profile says how, it is
    counted in characters and in bytes of UTF-8.
    """
    found = set[bool | None]()
    for measure, bounds, texts in (*_of_version_1(levels), *_of_version_2(levels)):
        least, most = (int(bound) if bound and _NUMBER.fullmatch(bound) else None for bound in bounds)
        if (least, most) != (None, None):
            size = measure(text) if measure else None
            is_over = size is not None and most is not None and size > most
            found.add(False if is_over else None if size is None or texts > 1 else size >= (least or 0))
    return False if False in found else None if None in found else True


def _of_version_1(levels: Sequence[Level]) -> Iterator[_Limit]:
    attributes = {name: value for level in levels for name, value in level.attributes.items()}
    units = {"width": _UNITS.get(attributes.get("size-unit", "")), "height": None, "bytes": _UNITS["byte"]}
    for dimension, measure in units.items():
        yield measure, [attributes.get(side + dimension) for side in ("min", "max")], levels[-1].texts


def _of_version_2(levels: Sequence[Level]) -> Iterator[_Limit]:
    profiles = {name: value for level in levels for name, value in level.profiles.items()}
    for level in levels:
        for name, value in level.attributes.items():
            kind, usual = _RESTRICTIONS.get(name.rpartition(":")[2], ("", ""))
            restriction = _RESTRICTION.fullmatch(value.replace(" ", ""))
            if kind and restriction:
                yield _PROFILES.get(profiles.get(kind) or usual), restriction.groups(), level.texts
