"""Documents on their way through translation: XLIFF 1.2 (OASIS 2008) and 2.0 to 2.2 (OASIS 2014 on).

1.2: a ``trans-unit`` is a pair where it is approved, its state is that of a translation, or it has no state and is not
declared unapproved. 2: a ``segment``, unless its state is initial. Proposals (``alt-trans``, ``match``) are none, and
what is not to be translated is left out.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from anaphora.formats.entries.entry import (
    EMPTY,
    NOT_FOR_TRANSLATION,
    OTHER_LANGUAGES,
    UNAPPROVED,
    UNTRANSLATED,
    Content,
    Edit,
    Entry,
    Gap,
    matches,
    one_line,
    pairs,
)
from anaphora.formats.entries.markup import (
    Attributes,
    Markup,
    after,
    filled,
    space_before,
    start_tag,
    with_attribute,
)
from anaphora.formats.entries.sizes import Level, fits

_TRANSLATED = {"translated", "final", "signed-off", "reviewed"}
"""States of a text that someone has translated."""
_UNTOUCHED = {"new", "needs-translation", "needs-l10n", "needs-adaptation", "initial"}
"""States of a text that nobody has, in whose place there may be a copy of the source."""
_UNIT = {"trans-unit": "1.2", "segment": "2"}
_TRANSLATE = "translate"
_TEXTS = ("source", "target", "seg-source")
_PROFILES = ("generalProfile", "storageProfile")


class _Segment(NamedTuple):
    line: int
    begin: int
    attributes: Attributes


class Xliff(Markup):
    """The entries of a document."""

    natives = frozenset(("bpt", "ept", "ph", "it", "x", "bx", "ex", "sc", "ec", "cp", "sm", "em"))

    def begins(self, name: str, attributes: Attributes, at: int) -> bool:
        if len(self.stack) == 1:
            self._root, self._root_begin = attributes, at
            self._languages = attributes.get("srcLang", ""), attributes.get("trgLang", "")
            self._translate = [True]
            self._open_segment: _Segment | None = None
            self._levels = list[Level]()
        elif name == "file":
            self._languages = (
                attributes.get("source-language", self._root.get("srcLang", "")),
                attributes.get("target-language", self._root.get("trgLang", "")),
            )
        elif not name and self._levels:
            self._levels[-1].profiles.update({key: attributes[key] for key in _PROFILES if key in attributes})
        self._levels.append(Level(attributes))
        if name in (*_UNIT, "ignorable"):
            for level in self._levels:
                level.texts += 1
        if name in _UNIT:
            self._open_segment = _Segment(self.line, at, attributes)
            self._contents: dict[str, Content] = {}
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
            self._contents.setdefault(name, content)
            return
        if name in _UNIT and self._open_segment is not None:
            self.entries += self._segment(name, self._open_segment)
        self._translate.pop()
        self._levels.pop()

    def is_protected(self, name: str, attributes: Attributes) -> bool:
        return name in ("mrk", "sm") and (attributes.get("mtype") == "protected" or attributes.get(_TRANSLATE) == "no")

    def _segment(self, name: str, segment: _Segment) -> list[Entry]:
        source, target = self._contents.get("source"), self._contents.get("target")
        if source is None or not source.text.strip():
            return [Entry(segment.line, "", "", EMPTY)]
        if not self._translate[-1]:
            return [Entry(segment.line, "", "", NOT_FOR_TRANSLATION)]
        wanted = zip(self._languages, (self.source, self.target), strict=True)
        if not all(matches(there, asked) or not there for there, asked in wanted):
            return [Entry(segment.line, "", "", OTHER_LANGUAGES)]
        state = self._states.get("state", segment.attributes.get("state", ""))
        copied = target is not None and state in _UNTOUCHED and target.text.strip() == source.text.strip()
        if target is None or not target.text.strip() or copied:
            text = one_line(source.text)
            if state in _TRANSLATED or segment.attributes.get("approved") == "yes":
                return [Entry(segment.line, text, "", UNTRANSLATED)]
            shape = self._contents.get("seg-source", source)
            filling = partial(self._filled, name, segment, source, shape, target)
            gap = Gap(shape.runs, filling, partial(fits, tuple(self._levels)))
            return [Entry(segment.line, text, "", UNTRANSLATED, gap)]
        if not self._is_translated(state, segment.attributes.get("approved", "")):
            return [Entry(segment.line, one_line(source.text), "", UNAPPROVED)]
        return [Entry(segment.line, *pair) for pair in pairs(source, target)]

    @staticmethod
    def _is_translated(state: str, approved: str) -> bool:
        return approved == "yes" or state in _TRANSLATED or (not state and approved != "no")

    def _filled(
        self,
        name: str,
        segment: _Segment,
        source: Content,
        shape: Content,
        target: Content | None,
        content: bytes,
        texts: Sequence[str],
    ) -> list[Edit]:
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
        translation = tag + filled(content, shape, texts) + end
        if target is not None:
            return [*edits, Edit(target.begin, after(content, target), translation)]
        place = max(after(content, source), after(content, shape))
        return [*edits, Edit(place, place, space_before(content, source.begin) + translation)]

    def declared(self, content: bytes) -> list[Edit]:
        """What a document that now has translations has to declare: in version 2 their language."""
        if "srcLang" not in self._root or "trgLang" in self._root:
            return []
        tag = start_tag(content, self._root_begin)
        return [Edit(self._root_begin, self._root_begin + len(tag), with_attribute(tag, "trgLang", self.target))]
