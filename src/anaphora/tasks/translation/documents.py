"""Documents translated: entries without a translation get one, and everything else stays byte for byte.

A sentence with inline codes is translated as a whole, with a tag for each code; two codes of which one closes what the
other opens are a pair of tags. Pairs may come back in another order, well nested and around some text. Where tags come
back otherwise, the texts between codes are translated apart, so that these stay in place. What would lose a
placeholder, a tag, an address or a bracket, has an unknown word, or is longer than its file allows, stays without a
translation, and so does what the translator is not sure of. Messages that choose one of several texts
(``text.branches``) are translated text by text where each is a sentence.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import unescape
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypeVar

from anaphora.formats.entries.document import REPLACED, Document
from anaphora.formats.entries.entry import Code, Put, Run
from anaphora.memory import Match
from anaphora.tasks.translation.inline_codes import CODE, InlineCodes
from anaphora.tasks.translation.translation import Translation
from anaphora.text.accelerators import Label, label
from anaphora.text.branches import split_branches
from anaphora.text.quality import differences, is_translatable, without_placeholders
from anaphora.text.text_rule import CONTROLS
from anaphora.text.tokenizer import MARKS, UNK

Result = TypeVar("Result")
Translate = Callable[[Sequence[str]], Iterable[str | None]]
"""Function from texts to translations; None for one of too low a confidence."""
Steps: TypeAlias = Generator[Sequence[str], Iterable[str | None], Result]
"""Work that yields texts and is sent their translations, so that nothing in it waits for them."""
Known = dict[str, str | None]
"""Texts and their translations."""
Similar = Mapping[str, Match]
"""Segments whose targets are used as translations, by the text; these need review."""
_NONE_SIMILAR: Similar = MappingProxyType({})

LOST = "whose placeholders, tags, addresses, brackets or white space did not come back"
UNKNOWN = "with unknown words"
UNWRITABLE = "with characters that the encoding of the file lacks"
NO_TEXT = "that came back without a word"
WRONG_SIZE = "longer or shorter than the file allows"
PARTS = "whose plural or select branches make parts of a sentence"
UNSURE = "of too low a confidence"
"""Why an entry stays without a translation."""

_FOLDED = frozenset(("html", "subtitles"))
"""Kinds whose line ends are white space."""
_SPACE = rf"[\s{CONTROLS}]"
_ENDS = re.compile(rf"(\A{_SPACE}++|(?<!{_SPACE}){_SPACE}++\Z)")
_SAID = r"[\s\-\u2013\u2014\u266a\u266b]"
_SPOKEN = re.compile(rf"(\A{_SAID}++|(?<!{_SAID}){_SAID}++\Z)")
"""Ends with the dashes of speakers and the notes of songs."""
_LINES = re.compile(rf"(\A{_SPACE}++|(?<!{_SPACE}){_SPACE}++\Z|(?<!\s)[^\S\r\n]*+[\r\n]\s*+)")
_GAP = re.compile(rf"(?<=[^\s{CONTROLS}])({_SPACE}+)(?=[^\s{CONTROLS}])")
_FOLDING = re.compile(r"\s{2,}|[\t\n\v\f\r]")
"""White space that is no more than a space in a page or a subtitle."""
_REFERENCE = re.compile(r"&(?:quot|apos|amp|#39);")


class FilledDocument(NamedTuple):
    """A document with translations, and what became of its entries."""

    content: bytes
    entries: int
    """Number of entries that got a translation."""
    left: dict[str, list[int]]
    """The lines of those that got none, by the reason."""
    unmeasured: tuple[int, ...] = ()
    """The lines of those that got one, where the file limits its size in a way that cannot be measured."""
    similar: tuple[tuple[int, Match], ...] = ()
    """The lines of those that got the target of a similar segment, and that segment."""


def next_step(steps: Steps[FilledDocument], found: Iterable[str | None] | None) -> Sequence[str] | FilledDocument:
    """Return the next texts, or the filled document; ``found`` are the translations of those before, None at first."""
    try:
        return next(steps) if found is None else steps.send(found)
    except StopIteration as end:
        filled: FilledDocument = end.value
        return filled


def fill(document: Document, translate: Translate, language: str, similar: Similar = _NONE_SIMILAR) -> FilledDocument:
    """Fill the gaps of a document with translations into ``language``; each different text is translated once.

    ``similar`` are segments whose targets ``translate`` returned, by the text: such translations need review.
    """
    steps, found = fill_steps(document, language, similar), None
    while not isinstance(asked := next_step(steps, found), FilledDocument):
        found = translate(asked)
    return asked


def fill_steps(document: Document, language: str, similar: Similar = _NONE_SIMILAR) -> Steps[FilledDocument]:
    """Fill a document as above, in steps."""
    flows = {
        place: [_Flow(pieces, document.kind) for pieces in entry.gap.flows()]
        for place, entry in enumerate(document.entries)
        if entry.gap
    }
    every = [flow for of_entry in flows.values() for flow in of_entry]
    known = yield from _add_translations([flow.whole for flow in every if flow.whole], {})
    known = yield from _add_translations([text for flow in every for text in flow.texts(known)], known)
    filled: dict[int, Put] = {}
    left: dict[str, list[int]] = {}
    unmeasured, matches = [], dict[int, Match]()
    for place, of_entry in flows.items():
        entry = document.entries[place]
        if document.kind in REPLACED and not any(flow.is_translatable for flow in of_entry):
            continue
        why = next((why for flow in of_entry if (why := flow.fault(known, language))), "")
        put = {at: one for flow in of_entry for at, one in flow.put(known, language).items()} if not why else {}
        texts = [one for one in put.values() if isinstance(one, str)]
        if not all(map(document.takes, texts)):
            why = UNWRITABLE
        fits = not (put and entry.gap) or entry.gap.fits("".join(texts))
        if fits is False:
            why = WRONG_SIZE
        if why:
            left.setdefault(why, []).append(entry.line)
            continue
        filled[place] = put
        used = (text for flow in of_entry for text in flow.texts(known) or [flow.whole])
        if match := next((similar[text] for text in used if text in similar), None):
            matches[place] = match
        if fits is None:
            unmeasured.append(entry.line)
    content = document.fill(filled, {place: match.percent for place, match in matches.items()})
    told = tuple((document.entries[place].line, match) for place, match in matches.items())
    return FilledDocument(content, len(filled), left, tuple(unmeasured), told)


def _add_translations(texts: Iterable[str], known: Known) -> Steps[Known]:
    """Add the translations of the texts that are not yet known."""
    new = [text for text in dict.fromkeys(texts) if text not in known]
    return {**known, **dict(zip(new, (yield new), strict=True))} if new else known


class ReferencedText:
    """A text whose character references of quotes and the like are read as characters, unless it has these too."""

    def __init__(self, text: str) -> None:
        self._references = {unescape(one): one for one in _REFERENCE.findall(text)}
        if self._references.keys() & set(_REFERENCE.sub("", text)):
            self._references = {}
        self.text = _REFERENCE.sub(lambda one: unescape(one[0]), text) if self._references else text

    def escape(self, text: str) -> str:
        """Return a text with character references as this one has them."""
        return text.translate(str.maketrans(self._references))

    def escape_in(self, translation: Translation) -> Translation:
        """Return a translation and its alternatives with character references."""
        alternatives = tuple(map(self.escape_in, translation.alternatives))
        return replace(translation, text=self.escape(translation.text), alternatives=alternatives)


class _Run(ReferencedText):
    """A stretch of text: white space and lines in turn."""

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        folded = kind in _FOLDED
        parts = (_SPOKEN if kind == "subtitles" else _ENDS if folded else _LINES).split(self.text)
        self.spaces = parts[1::2]
        self.labels = [Label(_FOLDING.sub(" ", part)) if folded else label(part) for part in parts[::2]]

    @property
    def is_plain(self) -> bool:
        """True if it is one line without a key."""
        lines = [one for one in self.labels if one.text]
        return len(lines) < 2 and not any(one.mark for one in lines)

    @property
    def line(self) -> str:
        """Text where it is one line."""
        return "".join(one.text for one in self.labels)

    def texts(self) -> Iterator[str]:
        return (one.text for one in self.labels if is_translatable(one.text))

    def put(self, known: Known, language: str) -> str:
        """Return the stretch with translations."""
        lines = [with_key(one, known.get(one.text), language) for one in self.labels]
        return self.escape("".join(piece for pair in zip(lines, [*self.spaces, ""], strict=True) for piece in pair))


class _Flow:
    """The stretches of one sentence, one before each of its codes and one behind the last, which may be empty."""

    def __init__(self, pieces: Sequence[Run | Code], kind: str) -> None:
        self._codes = InlineCodes(pieces)
        texts = [place.text for place in self._codes.places]
        self._runs = [_Run(text, kind) for text in texts]
        self._ends = _SPOKEN if kind == "subtitles" else _ENDS
        self.whole = ""
        """The sentence with tags for its codes; empty where that would say no more than its stretches."""
        self._branches = split_branches(self._codes.with_tags([CODE.sub("", text) for text in texts]))
        if self._branches:
            self._texts = [_Run(text, kind) for text in self._branches.texts]
            return
        self._texts = self._runs
        if sum(any(run.texts()) for run in self._runs) > 1 and all(run.is_plain for run in self._runs):
            texts = [CODE.sub("", " ".join(re.split(r"\s+", run.text))) for run in self._runs]
            self.whole = self._ends.sub("", self._codes.with_tags(texts))

    @property
    def is_translatable(self) -> bool:
        """True if there is something to translate."""
        return self._branches is not None or any(any(run.texts()) for run in self._runs)

    def texts(self, known: Known) -> list[str]:
        """Return the texts to translate where the sentence as a whole was not, or not well."""
        whole = self._pieces(known)[0] or self._is_unsure(known)
        return [] if whole else [text for run in self._texts for text in run.texts()]

    def fault(self, known: Known, language: str) -> str:
        """Why its translation is not to be used; empty for a good one."""
        if self._is_unsure(known):
            return UNSURE
        if self._branches and not self._branches.counted:
            return PARTS
        why = next((why for text in self.texts(known) if (why := fault(text, known[text]))), "")
        return why or ("" if self.put(known, language) else LOST)

    def put(self, known: Known, language: str) -> Put:
        """Return what is put into its places; nothing where codes or branches would not stay in place."""
        if self._branches:
            message = self._branches.with_texts([run.put(known, language) for run in self._texts])
            texts, order = self._codes.split(message) if message is not None else ([], [-1])
            return self._codes.put(texts) if order == self._codes.order else {}
        texts, order = self._pieces(known)
        if not texts:
            return self._codes.put([run.put(known, language) for run in self._runs])
        first, *before = self._ends.split(self._runs[0].text)
        *behind, last = self._ends.split(self._runs[-1].text)
        texts[0] = "".join([] if first else before[:1]) + texts[0].lstrip()
        texts[-1] = texts[-1].rstrip() + "".join([] if last else behind[-1:])
        return self._codes.put([run.escape(text) for run, text in zip(self._runs, texts, strict=True)], order)

    def _is_unsure(self, known: Known) -> bool:
        return bool(self.whole) and known[self.whole] is None

    def _pieces(self, known: Known) -> tuple[list[str], list[int]]:
        """Return the texts of the sentence's translation, and the codes between them; none if these cannot stand so."""
        translation = known[self.whole] if self.whole else None
        if translation is None or fault(self.whole, translation):
            return [], []
        texts, order = self._codes.split(translation)
        if not self._codes.may_stand(texts, order):
            return [], []
        have_moved = order != self._codes.order
        spaced = [
            text if have_moved and with_gaps(run.line, "") is not None else with_gaps(run.line, text)
            for run, text in zip(self._runs, texts, strict=True)
        ]
        return ([one for one in spaced if one is not None], order) if None not in spaced else ([], [])


def with_key(one: Label, translation: str | None, language: str) -> str:
    """Return a translation with the key that the text has; the text itself where there is none."""
    if translation is None:
        return one.with_key(one.text, "")
    return one.with_key(with_gaps(one.text, translation.strip()) or translation, language)


def with_gaps(text: str, translation: str) -> str | None:
    """Return a translation with the white space that ``text`` has within it, where that is not a space.

    It stays between sentences, and beside a word that both have once. Tabs, control characters and runs of spaces have
    to come back, and None says that one has no place. A no-break space and the like between words go to the space that
    is nearest to their old place.
    """
    given, put = _GAP.split(text), _GAP.split(translation.replace("\n", " "))
    came_back = list(filter(_is_layout, given[1::2])) == list(filter(_is_layout, put[1::2]))
    if not came_back:
        put[1::2] = [" " if _is_layout(gap) else gap for gap in put[1::2]]
    there = {gap for gap in given[1::2] if put[1::2].count(gap) >= given[1::2].count(gap) and not _is_layout(gap)}
    for place, (before, gap, after) in enumerate(zip(given[::2], given[1::2], given[2::2], strict=False)):
        if gap == " " or gap in there or (came_back and _is_layout(gap)):
            continue
        beside = [put.index(word) + step for word, step in ((before, 1), (after, -1)) if _once(word, given, put)]
        if not _is_layout(gap) and before[-1].isalnum() and after[0].isalnum():
            free = (one for one in range(1, len(put), 2) if put[one] == " ")
            beside += sorted(free, key=lambda one: abs((one + 1) / len(put) - 2 * (place + 1) / len(given)))[:1]
        at = next((one for one in beside if put[one : one + 1] in ([" "], [gap])), None)
        if at is not None:
            put[at] = gap
        elif _is_layout(gap):
            return None
    return "".join(put)


def _is_layout(gap: str) -> bool:
    return len(gap) > 1 or gap in f"\t\v\f{CONTROLS}"


def _once(word: str, *texts: Sequence[str]) -> bool:
    return all(text[::2].count(word) == 1 for text in texts)


def fault(text: str, translation: str | None) -> str:
    """Why a translation of a text is not to be used; empty for one that may be."""
    if translation is None:
        return UNSURE
    if split_branches(text):
        return PARTS
    if MARKS[UNK] in translation or translation.count(_BROKEN) > text.count(_BROKEN):
        return UNKNOWN
    if not any(map(str.isalnum, without_placeholders(translation))):
        return NO_TEXT
    lost = with_gaps(text, translation) is None or any(one.kind != _NUMBERS for one in differences(text, translation))
    return LOST if lost or _formats(text) != _formats(translation) or _signs(text) != _signs(translation) else ""


_BROKEN = "\ufffd"
"""Character read for bytes that make none."""
_NUMBERS = "numbers"
"""Kind of text that another language may write otherwise."""
_FORMAT = re.compile(r"%(\(\w+\)|\d+\$)?[-+#0]*+[\d*]*+(?:\.[\d*]+)?(?:hh?|ll?|[Lzjt])?+[A-Za-z%]?")


def _formats(text: str) -> tuple[list[str], list[str]]:
    """Return the printf formats of a text, even before a letter: those known by their order, and those with names."""
    found = list(_FORMAT.finditer(text))
    return [one[0] for one in found if not one[1]], sorted(one[0] for one in found if one[1])


_SIGN = re.compile(r"\{[^{}]*\}|[][{}\\`|]|&#?\w+;")


def _signs(text: str) -> list[str]:
    """Return what stands in braces, other brackets, signs of code and character entities."""
    return sorted(_SIGN.findall(text))
