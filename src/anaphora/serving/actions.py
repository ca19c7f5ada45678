"""What the server can be asked: one function for each route, from checked parameters to a value for JSON.

The names and values are those of LibreTranslate's API. ``alignment`` in a request is ours: the answer then has the
links between the words of every text and its translation.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from anaphora.prediction.options import SearchOptions
from anaphora.serving.batching import Batching, Search
from anaphora.serving.detection import Detector
from anaphora.serving.keys import Doorkeeper
from anaphora.serving.languages import name_of
from anaphora.serving.limits import ServingLimits
from anaphora.serving.metrics import Metrics
from anaphora.serving.parameters import Parameters
from anaphora.serving.refusal import Refusal, bad
from anaphora.serving.translators import Translators
from anaphora.tasks.translation import Translation

FORMATS = ("text", "html")


@dataclass
class Service:
    """What actions work with."""

    translators: Translators
    batching: Batching
    detector: Detector
    doorkeeper: Doorkeeper
    limits: ServingLimits
    metrics: Metrics
    names: Collection[str] = ()
    """Host names that clients call it by, beside localhost and addresses."""
    stopping: bool = False
    """Whether the server was asked to stop."""


async def translate(service: Service, given: Parameters) -> dict[str, Any]:
    """``POST /translate``: one text or a list, with alternatives and alignment where they are asked for."""
    texts, several = given.texts("q", service.limits)
    format_ = given.text("format", "text")
    if format_ not in FORMATS:
        raise bad(f"{format_} format is not supported")
    alternatives = given.number("alternatives", service.limits.alternatives)
    source, target, detected = given.text("source"), given.text("target"), None
    if source == "auto":
        found = service.detector.detect("\n".join(texts))[0]
        source, detected = found.language, found.json()
    served = service.translators.find(source, target)
    aligned = given.flag("alignment") and served.attends
    options = SearchOptions(alternatives=alternatives, attention=aligned)
    answers = await service.batching.translate(Search(served, options), texts)

    answer: dict[str, Any] = {"translatedText": [one.text for one in answers]}
    if detected is not None:
        answer["detectedLanguage"] = [detected for _ in answers]
    if alternatives:
        answer["alternatives"] = [_others(one) for one in answers]
    if aligned:
        answer["alignment"] = [[list(link) for link in sorted(one.links())] for one in answers]
    return answer if several else {name: values[0] for name, values in answer.items()}


async def detect(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``POST /detect``: the languages of a text, most probable first."""
    texts, _ = given.texts("q", service.limits)
    return [one.json() for one in service.detector.detect("\n".join(texts))]


async def languages(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``GET /languages``: every language that is served, and what it can be translated to."""
    codes = sorted({code for one in service.translators for code in (one.source, one.target)})
    return [{"code": code, "name": name_of(code), "targets": service.translators.targets(code)} for code in codes]


async def settings(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /frontend/settings``: what a page has to know."""
    first = next(iter(service.translators))
    return {
        "alternativesLimit": service.limits.alternatives,
        "apiKeys": service.doorkeeper.required,
        "charLimit": service.limits.characters,
        "filesTranslation": False,
        "frontendTimeout": 300,
        "keyRequired": service.doorkeeper.required,
        "language": {
            side: {"code": code, "name": name_of(code)}
            for side, code in (("source", first.source), ("target", first.target))
        },
        "suggestions": False,
        "supportedFilesFormat": [],
    }


async def health(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /health``: the process answers."""
    return {"status": "ok"}


async def ready(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /health/ready``: requests are taken; 503 while the queue is full or the server stops."""
    if service.stopping or service.batching.busy:
        raise Refusal(503, "stopping" if service.stopping else "the queue is full")
    return {"status": "ok"}


def _others(translation: Translation) -> list[str]:
    return [other.text for other in translation.alternatives]
