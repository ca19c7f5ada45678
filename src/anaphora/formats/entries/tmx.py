"""Translation memories: TMX 1.1 to 1.4b (LISA 2005).

An entry (``tu``) holds a text in each of several languages. Native code (``bpt``, ``ept``, ``ph``, ``it``, ``ut``) is
no part of a text; ``hi`` is, and a ``sub`` inside of code is its own text. A language is ``xml:lang``, in old
files ``lang``. A text that is there in the exact language goes before those of its regions.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import escape
from typing import NamedTuple

from anaphora.formats.entries.entry import Content, Edit, Entry, Gap, Put, Reason, Run, matches, pairs, places_of
from anaphora.formats.entries.markup import Attributes, Markup, after, escape_text, fill, space_before, with_attributes
from anaphora.version import VERSION


class _Variant(NamedTuple):
    language: str
    attribute: str
    """The name of the attribute that says so."""
    begin: int
    """Begin of its ``tuv``."""
    content: Content


def language_of(attributes: Attributes) -> str:
    """Return the language that an element declares; empty without."""
    return attributes.get("xml:lang") or attributes.get("lang", "")


class Tmx(Markup):
    """The entries of a memory, each pair of texts in the two languages."""

    natives = frozenset(("bpt", "ept", "ph", "it", "ut"))

    _form = ""
    """Spelling of the target language in the file."""

    def begins(self, name: str, attributes: Attributes, at: int) -> bool:
        if name == "tu":
            self._line, self._variants, self._lacks_seg = self.line, list[_Variant](), False
        elif name == "tuv":
            self._language, self._variant = language_of(attributes), at
            if matches(self._language, self.target):
                self._form = self._language
            self._attribute = "lang" if "lang" in attributes and "xml:lang" not in attributes else "xml:lang"
        return name == "seg" and self.stack[-3:-1] == ["tu", "tuv"]

    def ends(self, name: str, content: Content | None, at: int) -> None:
        if content is not None:
            self._variants.append(_Variant(self._language, self._attribute, self._variant, content))
        elif name == "tuv" and "tu" in self.stack:
            has_seg = any(one.begin == self._variant for one in self._variants[-1:])
            self._lacks_seg |= matches(self._language, self.source) and not has_seg
        elif name == "tu":
            self.entries += self._pairs(at)

    def _pairs(self, at: int) -> Iterator[Entry]:
        sources, targets = self._in(self.source, self.target), self._in(self.target, self.source)
        if not sources:
            yield Entry(self._line, "", "", Reason.WITHOUT_SEG if self._lacks_seg else Reason.OTHER_LANGUAGES)
            return
        texts = [one for one in sources if one.content.text.strip()]
        if not texts:
            yield Entry(self._line, "", "", Reason.EMPTY)
            return
        there = [one for one in targets if one.content.text.strip()]
        if not there:
            put = partial(self._fill, texts[0], targets[0] if targets else None, at)
            gap = Gap(texts[0].content.runs, put, codes=texts[0].content.codes)
            yield Entry.untranslated(self._line, texts[0].content.text, gap)
            return
        for source, target in [(texts[0], one) for one in there] + [(one, there[0]) for one in texts[1:]]:
            for pair in pairs(source.content, target.content):
                yield Entry(self._line, *pair)

    def _in(self, language: str, other: str) -> list[_Variant]:
        codes = [one.language for one in self._variants]
        return [self._variants[place] for place in places_of(codes, language, other)]

    def _fill(
        self, source: _Variant, target: _Variant | None, end: int, content: bytes, put: Put, _: Mapping[Run, int]
    ) -> list[Edit]:
        seg, tuv = self.tag("seg"), self.tag("tuv")
        segment = seg + fill(content, source.content, put) + seg.replace(b"<", b"</")
        if target is not None:
            return [Edit(target.content.begin, after(content, target.content), segment)]
        space = space_before(content, source.begin)
        inner = space_before(content, source.content.begin)
        begin = content.rindex(b">", 0, end) + 1
        opened = with_attributes(tuv, {source.attribute: self._form or self.target})
        whole = [space, opened, inner, segment, space if inner else b"", tuv.replace(b"<", b"</")]
        return [Edit(begin, begin, b"".join(whole))]


_ON_ONE_LINE = str.maketrans({"\n": "&#10;", "\t": "&#9;"})


def tmx_lines(pairs: Iterable[tuple[str, str]], languages: tuple[str, str]) -> Iterator[str]:
    """Yield the lines of a translation memory of pairs of texts in two languages.

    Line ends inside of texts are escaped.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    source, target = (f'"{escape(language.replace("_", "-"))}"' for language in languages)
    yield (
        f'<tmx version="1.4"><header creationtool="anaphora" creationtoolversion="{VERSION}" segtype="sentence" '
        f'o-tmf="anaphora" adminlang="en" srclang={source} datatype="plaintext"/><body>'
    )
    for one, other in pairs:
        texts = (
            f"<tuv xml:lang={language}><seg>{escape_text(text, ' ').translate(_ON_ONE_LINE)}</seg></tuv>"
            for language, text in ((source, one), (target, other))
        )
        yield f"<tu>{''.join(texts)}</tu>"
    yield "</body></tmx>"
