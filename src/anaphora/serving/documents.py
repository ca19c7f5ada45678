"""Documents and pieces of HTML, translated text by text; all else in them stays as it is."""

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor
from pathlib import PurePath

from anaphora.errors import DataError
from anaphora.formats.documents import PEEKED, recognize
from anaphora.formats.entries.document import Document
from anaphora.formats.entries.kinds import READERS
from anaphora.serving.parameters import Upload
from anaphora.serving.refusal import Refusal, bad
from anaphora.tasks.translation.documents import FilledDocument, Steps, fill_steps, next_step

Translate = Callable[[Sequence[str]], Awaitable[Iterable[str | None]]]
"""Function from texts to their translations, in order."""

ENDINGS = ("html", "po", "srt", "tmx", "txt", "vtt", "xlf", "xliff")
"""Endings of the names of documents."""
_ENDS = re.compile(r"(\ufeff|\r?\n)")
"""Separators that stay between the lines of a text."""
LARGEST_PAGE = 1 << 17
"""Bytes of the largest page: older versions of Python take time that grows with the square of malformed HTML."""
HELD = 1 << 26
"""Bytes of translated documents that wait to be fetched; beyond them the oldest are dropped."""
_STORED = 1_000
"""Documents that wait to be fetched, whatever their size."""


async def translate_steps(steps: Steps[FilledDocument], translate: Translate, threads: Executor) -> FilledDocument:
    """Return the result of steps, each of which runs in a thread: none waits there for a translation."""
    loop, found = asyncio.get_running_loop(), None
    while not isinstance(asked := await loop.run_in_executor(threads, next_step, steps, found), FilledDocument):
        found = await translate(asked)
    return asked


def html(text: str, languages: tuple[str, str]) -> Steps[FilledDocument]:
    """Translate a piece of HTML: tags and attributes stay as they were, text is escaped."""
    return _fill(text.encode(), "q", "html", languages)


def document(content: bytes, name: str, languages: tuple[str, str]) -> Steps[FilledDocument]:
    """Translate what a document lacks. Raises Refusal or DataError for one that is not read, with what it is."""
    if not content and not name.lower().endswith(".txt"):
        raise bad(f"{name} is empty")
    found = recognize(content[:PEEKED], name)
    if found is None and name.lower().endswith(".txt"):
        return (yield from _lines(content, name))
    if found is None or found.reader not in READERS:
        what = f"{name} is {found.name}: {found.remedy.format(file=name)}" if found else f"{name} is none that is known"
        raise bad(f"Documents are TMX, PO, XLIFF, HTML, SRT, WebVTT and .txt in UTF-8, but {what}")
    if found.reader == "html" and len(content) > LARGEST_PAGE:
        raise Refusal(413, f"Invalid request: the page exceeds the limit ({LARGEST_PAGE})")
    return (yield from _fill(content, name, found.reader, languages))


def _lines(content: bytes, name: str) -> Steps[FilledDocument]:
    """Translate a text line by line, each with its end as it was; DataError for one that is not in UTF-8."""
    try:
        parts = _ENDS.split(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}:{line} should be UTF-8, but is not: convert it.") from None
    texts = [part for part in dict.fromkeys(parts[::2]) if part.strip()]
    known = dict(zip(texts, (yield texts), strict=True))
    filled = sum(part in known for part in parts)
    return FilledDocument("".join(known.get(part, part) or "" for part in parts).encode(), filled, {})


def _fill(content: bytes, name: str, kind: str, languages: tuple[str, str]) -> Steps[FilledDocument]:
    document = Document(content, name, kind, languages)
    if document.is_foreign:
        raise bad(f"Invalid request: {name} is in other languages than {' and '.join(languages)}")
    return (yield from fill_steps(document, languages[1]))


class Downloads:
    """Translated documents until they are fetched, each under a name that cannot be guessed."""

    def __init__(self) -> None:
        self._stored: OrderedDict[str, Upload] = OrderedDict()

    def add(self, name: str, content: bytes) -> str:
        """Keep a document; returns the name to fetch it by."""
        token = secrets.token_urlsafe(32) + PurePath(name).suffix
        self._stored[token] = Upload(name, content)
        held = sum(len(one.content) for one in self._stored.values())
        while len(self._stored) > _STORED or (held > HELD and len(self._stored) > 1):
            held -= len(self._stored.popitem(last=False)[1].content)
        return token

    def get(self, token: str) -> Upload:
        """Return a document; Refusal where there is none of the name."""
        if token not in self._stored:
            raise Refusal(404, "There is no document of this name, or it was dropped for later ones")
        return self._stored[token]
