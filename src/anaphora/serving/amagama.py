"""What memories have for a text, in the ways of amaGama's clients, of which Weblate is one.

Its codes of languages are in lower case, with ``_`` in front of a region.
"""

import asyncio
from typing import Any

from anaphora.memory.memory import MATCHES, THRESHOLD
from anaphora.serving.actions import Service
from anaphora.serving.parameters import Parameters

_MOST = 50
"""Segments of one answer at most."""


async def languages(service: Service, given: Parameters) -> dict[str, Any]:
    """``GET /tmserver/languages/``: the languages of the memories."""
    having = [one for one in service.translators if one.memory is not None]
    return {
        "sourceLanguages": sorted({_code(one.source) for one in having}),
        "targetLanguages": sorted({_code(one.target) for one in having}),
    }


async def unit(service: Service, given: Parameters) -> list[dict[str, Any]]:
    """``GET /tmserver/SOURCE/TARGET/unit/TEXT``: segments of the memory, the most similar first."""
    text = given.passage("text", service.limits)
    least = given.number("min_similarity", 100) or THRESHOLD
    most = given.number("max_candidates", _MOST) or MATCHES
    memory = service.translators.find(given.text("source"), given.text("target")).memory
    if memory is None:
        return []
    matches = await asyncio.to_thread(memory.find, text, least, most)
    return [
        {"source": one.segment.source, "target": one.segment.target, "quality": one.percent, "rank": one.percent}
        for one in matches[:most]
    ]


def _code(code: str) -> str:
    return code.replace("-", "_").lower()
