"""Actions of the server: one function for each route, from checked parameters to a value for JSON.

The names and values are those of LibreTranslate's API. ``alignment``, ``confidence``, ``memory`` and ``terms`` in a
request are ours: the answer then has the links between the words of every text and its translation, how sure the model
is of that and of its words, where it comes from, and the entries of the glossary that the text has. So are ``prefix``
and ``avoid``, with which translations continue some words, without another. Where the server has a glossary, answers
have ``missing_terms``: the source forms of the required terms that a translation lacks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from anaphora.formats.glossary import ANY, GlossaryEntry
from anaphora.memory import Segment
from anaphora.memory.memory import MATCHES, THRESHOLD
from anaphora.prediction.glossary import Glossary
from anaphora.serving.batching import RETRY, Batching, Search, batches
from anaphora.serving.detection import Detector
from anaphora.serving.documents import ENDINGS, Downloads, Translate, document, html, translate_steps
from anaphora.serving.keys import Doorkeeper, Key
from anaphora.serving.limits import ServingLimits
from anaphora.serving.metrics import Metrics
from anaphora.serving.parameters import Parameters
from anaphora.serving.refusal import Refusal, bad
from anaphora.serving.tm import CONFIRMED, Learning, translated
from anaphora.serving.translators import ServedRun, Translators, name_of
from anaphora.tasks.translation.documents import ReferencedText
from anaphora.tasks.translation.translation import Translation
from anaphora.text.masking import split_around
from anaphora.text.placeholders import USUAL
from anaphora.text.sentences import Passage

FORMATS = ("text", "html")
ORIGIN = ("model", "memory", "from", "changes", "sentences")
"""Keys of an answer for the origin of a translation."""
STOPPING = "The server is stopping: try again later."
_SHOWN = 40
"""Characters of a text that say which one it is."""
_PROBE = 1.0
"""Seconds in which a thread has to be free."""


@dataclass
class Service:
    """Everything that actions share."""

    translators: Translators
    keys: Sequence[Key] = ()
    """Keys of which one is needed; without any everybody may ask."""
    limits: ServingLimits = field(default_factory=ServingLimits)
    downloads: Downloads = field(default_factory=Downloads)
    names: Collection[str] = ()
    """Host names that clients call it by, beside localhost and addresses."""
    origins: Collection[str] = ()
    """Other sites whose pages may call it."""
    proxies: Collection[str] = ()
    """Addresses and networks whose word for the address of a client counts."""
    learns: bool = False
    """True if all who are admitted may add to memories, and not only keys with that right."""
    learning: Learning = field(default_factory=Learning)
    documents: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, "documents"))
    """Reads and writes documents."""
    looking: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "looking"))
    """Looks for training pairs, for one request at a time."""
    stopping: bool = False
    """True if the server was asked to stop."""

    def __post_init__(self) -> None:
        self.metrics = Metrics()
        self.batching = Batching(self.limits, self.metrics.count_batch)
        self.detector = Detector(self.translators.sources)
        self.doorkeeper = Doorkeeper(self.keys)

    async def stop(self) -> None:
        """Let threads end what they have begun, then close the memories, which they write to."""
        for threads in (self.documents, self.looking, self.learning.threads):
            await asyncio.to_thread(threads.shutdown, cancel_futures=True)
        await self.batching.stop()
        self.translators.close()

    def learns_from(self, key: Key) -> bool:
        """True if the holder of a key may add to memories."""
        return (self.learns or key.learns) and any(one.learning is not None for one in self.translators)


@dataclass(frozen=True)
class Action:
    """A route, who may take it, and the fields that it reads."""

    path: str
    method: str
    run: Callable[[Service, Parameters], Awaitable[Any]]
    open: bool = False
    """True if no key is needed; that has to be said."""
    own: bool = False
    """True if pages of other origins may not take it, though a browser sends it unasked."""
    patient: bool = False
    """True if it has the deadline of documents."""
    learns: bool = False
    """True if it changes a memory, which has to be allowed."""
    needs: str = ""
    """Fields without which it is refused, with spaces between them."""
    takes: str = ""
    """Fields that may be missing."""


async def translate(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /translate``: one text or a list, with alternatives and alignment if asked for, and missing terms."""
    texts, several = given.texts("q", service.limits)
    format_ = given.text("format", "text")
    if format_ not in FORMATS:
        raise bad(f"{format_} format is not supported")
    if format_ == "html" and (given.text("prefix", "") or given.text("avoid", "")):
        raise bad("prefix and avoid are for plain text: leave them out, or the format html")
    alternatives = given.number("alternatives", service.limits.alternatives)
    served, detected = await _served(service, texts, given)
    if format_ == "html":
        answer = await _translated_html(service, served, texts, alternatives, given)
    else:
        answer = await _translated(service, served, texts, alternatives, given)
    if detected is not None:
        answer["detectedLanguage"] = [detected for _ in texts]
    return answer if several else {name: values[0] for name, values in answer.items()}


async def _served(service: Service, texts: Sequence[str], given: Parameters) -> tuple[ServedRun, dict[str, Any] | None]:
    """Return the translator of texts, and their language where that was to be detected."""
    source, target, detected = given.text("source"), given.text("target"), None
    if source.lower() == "auto":
        found = (await asyncio.to_thread(service.detector.detect, "\n".join(texts)))[0]
        source, detected = found.language, found._asdict()
    return service.translators.find(source, target), detected


async def segments(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /segments``: the sentences of a text, and the white space around their translations."""
    text = given.passage("q", service.limits)
    served, detected = await _served(service, [text], given)
    splitter = served.predictor.splitter
    passage = await asyncio.to_thread(split_around, splitter, text, USUAL) if splitter else Passage.whole(text)
    found = {"segments": passage.sentences, "gaps": splitter.gaps(passage) if splitter else passage.gaps}
    return found | ({"detectedLanguage": detected} if detected else {})


async def translate_file(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /translate_file``: a document: where its translation is fetched, what was filled and left, and why."""
    file = given.upload("file", service.limits)
    served = service.translators.find(given.text("source"), given.text("target"))
    steps = document(file.content, file.name, served.predictor.languages)
    missing: dict[str, Sequence[str]] = {}
    filled = await translate_steps(steps, _translating(service, served, given, missing)(0), service.documents)
    if service.stopping:  # nobody could fetch it
        raise Refusal(503, STOPPING, RETRY)
    address = f"{given.address}download_file/{quote(service.downloads.add(file.name, filled.content))}"
    answer = {"translatedFileUrl": address, "filled": filled.entries, "left": filled.left}
    return answer | ({"missing_terms": missing} if served.terms else {})


async def download_file(service: Service, given: Parameters) -> Response:
    """``GET /download_file/NAME``: a translated document."""
    stored = service.downloads.get(given.text("name"))
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(stored.name)}"}
    return Response(stored.content, media_type="application/octet-stream", headers=headers)


async def suggest(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /suggest``: add a confirmed translation to the translation memory."""
    memory = service.translators.find(given.text("source"), given.text("target")).learning
    assert memory is not None  # all have one, or learning is refused
    source, target = (given.passage(name, service.limits) for name in ("q", "s"))
    origin = f"{CONFIRMED}:{given.by.name}" if given.by.name else CONFIRMED
    token = await service.learning.confirm(memory, Segment(source, target, origin=origin), service.limits)
    return {"success": True} | ({"undo": token} if given.flag("undo") else {})


async def undo(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /suggest/undo``: remove a confirmed translation from the translation memory."""
    await service.learning.undo(given.text("token"))
    return {"success": True}


async def neighbours(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /neighbours``: for each word of a translation, the training pairs that are nearest to it."""
    nearest = service.translators.find(given.text("source"), given.text("target")).nearest
    if nearest is None:
        raise Refusal(403, "Training pairs are not shown by this server")
    text, translation = (given.passage(name, service.limits) for name in ("q", "s"))
    looking = asyncio.get_running_loop().run_in_executor(service.looking, nearest, text, translation)
    return {"neighbours": await looking}


async def detect(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``POST /detect``: the languages of a text, most probable first."""
    texts, _ = given.texts("q", service.limits)
    return [one._asdict() for one in await asyncio.to_thread(service.detector.detect, "\n".join(texts))]


async def languages(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``GET /languages``: every language that is served, and what it can be translated to."""
    codes = sorted({code for one in service.translators for code in (one.source, one.target)})
    return [{"code": code, "name": name_of(code), "targets": service.translators.targets(code)} for code in codes]


async def settings(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /frontend/settings``: what a page has to know."""
    first = next(iter(service.translators))
    sides = {"source": first.source, "target": first.target}
    return {
        "alternativesLimit": service.limits.alternatives,
        "apiKeys": service.doorkeeper.required,
        "charLimit": service.limits.characters,
        "filesTranslation": True,
        "frontendTimeout": 300,
        "keyRequired": service.doorkeeper.required,
        "language": {side: {"code": code, "name": name_of(code)} for side, code in sides.items()},
        "neighbours": any(one.nearest is not None for one in service.translators),
        "suggestions": service.learns_from(given.by),
        "supportedFilesFormat": [f".{ending}" for ending in ENDINGS],
    }


async def health(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /health``: the process answers."""
    return {"status": "ok"}


async def ready(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /health/ready``: requests are taken; 503 while the queue is full or stands still, or the server stops."""
    stuck = "the queue is full" if service.batching.busy else "the queue stands still" * service.batching.is_stuck
    if service.stopping or stuck:
        raise Refusal(503, stuck or "stopping")
    try:
        async with asyncio.timeout(_PROBE):
            await asyncio.to_thread(int)
    except TimeoutError:
        raise Refusal(503, "no thread is free") from None
    return {"status": "ok"}


async def _translated(
    service: Service, served: ServedRun, texts: Sequence[str], alternatives: int, given: Parameters
) -> dict[str, list[Any]]:
    """The translations of texts, with the other translations, links between words and origins that were asked for."""
    aligned, origins = given.flag("alignment") and served.attends, given.flag("memory")
    judged, prefix, avoid = given.flag("confidence"), given.text("prefix", ""), given.text("avoid", "")
    options = served.options(alternatives=alternatives, attention=aligned, confidence=judged)
    if avoid:
        entries = served.terms.entries if served.terms else ()
        options = options._replace(terms=Glossary([*entries, GlossaryEntry("avoid", ANY, (), (avoid,))]))

    async def by_model(texts: Sequence[str]) -> list[Translation]:
        read = [ReferencedText(text) for text in texts]
        asked = [one.text for one in read]
        found = await service.batching.translate(Search(served, options, prefix), asked, given.client)
        return [of_text.escape_in(one) for of_text, one in zip(read, found, strict=True)]

    async def search() -> list[Translation]:
        if prefix or avoid:  # which the memory knows nothing of
            return await by_model(texts)
        return await translated(service.batching, Search(served, options), texts, by_model, least)

    least, note = THRESHOLD if origins else 100, ""
    try:
        found = await search()
    except Refusal as refusal:  # perhaps of the confidence alone
        if not judged or refusal.status != 400:
            raise
        options, note = options._replace(confidence=False), refusal.message
        found = await search()
    answer: dict[str, list[Any]] = {"translatedText": [one.text for one in found]}
    if note:
        answer["note"] = [note for _ in texts]
    if alternatives:
        answer["alternatives"] = [[other.text for other in one.alternatives] for one in found]
    if aligned:
        answer["alignment"] = [_links(one) for one in found]
    if judged:
        answer["confidence"] = [one.confidence for one in found]
        answer["wordConfidences"] = [list(one.word_confidences) for one in found]
    if given.flag("terms"):
        answer["terms"] = [_terms(served.terms, text) for text in texts]
    if served.terms:
        answer["missing_terms"] = [one.missing_terms for one in found]
    if origins:
        told = [one.origin(served.model) for one in found]
        answer |= {name: [one[name] for one in told] for name in ORIGIN}
    return answer


def _links(translation: Translation) -> list[list[int]]:
    """Return the links between words; none for what the memory has, where no model looked."""
    is_exact = translation.match is not None and translation.match.is_exact
    return [] if is_exact else [list(link) for link in sorted(translation.links())]


def _terms(glossary: Glossary | None, text: str) -> list[dict[str, Any]]:
    """Return the entries of a glossary that a text has."""
    found = dict.fromkeys(match.entry for match in glossary.of(text)) if glossary else []
    return [{"source": one.source, "targets": one.required, "forbidden": one.forbidden} for one in found]


async def _translated_html(
    service: Service, served: ServedRun, texts: Sequence[str], alternatives: int, given: Parameters
) -> dict[str, list[Any]]:
    """Pieces of HTML; an alternative has that of each of its texts, where the text has as many."""
    languages = served.predictor.languages
    missing: list[dict[str, Sequence[str]]] = [{} for _ in texts]

    async def ranked(text: str, lost: dict[str, Sequence[str]]) -> list[str]:
        by_rank = _translating(service, served, given, lost, alternatives)
        return [
            (await translate_steps(html(text, languages), by_rank(rank), service.documents)).content.decode()
            for rank in range(1 + alternatives)
        ]

    pieces = [asyncio.create_task(ranked(text, lost)) for text, lost in zip(texts, missing, strict=True)]
    try:
        found = await asyncio.gather(*pieces)
    finally:
        for piece in pieces:
            piece.cancel()
    answer: dict[str, list[Any]] = {"translatedText": [best for best, *_ in found]}
    if alternatives:
        answer["alternatives"] = [list(dict.fromkeys(one for one in others if one != best)) for best, *others in found]
    if served.terms:
        answer["missing_terms"] = [[term for terms in lost.values() for term in terms] for lost in missing]
    return answer


def _translating(
    service: Service, served: ServedRun, given: Parameters, missing: dict[str, Sequence[str]], alternatives: int = 0
) -> Callable[[int], Translate]:
    """Return a function that translates the texts of a document, from the rank of what it returns of each text.

    They are translated some at a time, so that others come in between, and once for all ranks. Texts whose translations
    lack terms are put into ``missing``.
    """
    known: dict[str, list[str]] = {}

    async def translate(texts: Sequence[str]) -> None:
        search = Search(served, served.options(alternatives=alternatives))

        async def by_model(texts: Sequence[str]) -> list[Translation]:
            found: list[Translation] = []
            for batch in batches(texts, str):
                found += await service.batching.translate(search, batch, given.client, id(given), patient=True)
            return found

        if len(texts) > service.limits.document_texts:
            raise bad(f"Invalid request: a document may have {service.limits.document_texts} different texts at most")
        longest = max(texts, key=len, default="")
        if len(longest) > service.limits.characters:
            begins, limit = longest[:_SHOWN], service.limits.characters
            raise bad(f"Invalid request: the text '{begins}..' ({len(longest)}) exceeds text limit ({limit})")
        for text, one in zip(texts, await translated(service.batching, search, texts, by_model), strict=True):
            known[text] = [one.text, *(other.text for other in one.alternatives)]
            missing.update({text: one.missing_terms} if one.missing_terms else {})

    def by_rank(rank: int) -> Translate:
        async def ranked(texts: Sequence[str]) -> list[str]:
            await translate([text for text in texts if text not in known])
            found = [known[text] for text in texts]
            return [one[rank] if rank < len(one) else one[0] for one in found]

        return ranked

    return by_rank


_MOST_SEGMENTS = 50
"""Segments of one answer at most."""


async def memory_languages(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /tmserver/languages/``: the languages of the memories."""
    having = [one for one in service.translators if one.memory is not None]
    sides = {"sourceLanguages": {one.source for one in having}, "targetLanguages": {one.target for one in having}}
    # clients of amaGama (Weblate) write codes in lower case, with _ before a region
    return {name: sorted({code.replace("-", "_").lower() for code in codes}) for name, codes in sides.items()}


async def memory_unit(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``GET /tmserver/SOURCE/TARGET/unit/TEXT``: segments of the memory, the most similar first."""
    text = given.passage("text", service.limits)
    least = given.number("min_similarity", 100, THRESHOLD)
    most = given.number("max_candidates", _MOST_SEGMENTS) or MATCHES
    memory = service.translators.find(given.text("source"), given.text("target")).memory
    if memory is None:
        return []
    matches = await asyncio.to_thread(memory.find, text, least, most)
    return [
        {"source": one.segment.source, "target": one.segment.target, "quality": one.percent, "rank": one.percent}
        for one in matches[:most]
    ]
