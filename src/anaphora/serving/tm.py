"""Translation memories of runs: texts come back as they were confirmed, and confirmed ones enter.

Texts are looked up before they are queued, so that those of other requests are never their neighbours.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from anaphora.errors import RunError
from anaphora.memory import Memory, Segment
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal, bad
from anaphora.tasks.translation.tm_lookup import Recall, from_memory, is_exact
from anaphora.tasks.translation.translation import Translation
from anaphora.wording import inflect

ByModel = Callable[[Sequence[str]], Awaitable[list[Translation]]]
"""From texts to their translations by a model, in order."""
CONFIRMED = "server"
"""Origin of segments that clients confirmed; with a key its name follows, after a colon."""
_UNDONE = 1_000
"""Confirmed segments that can still be undone; beyond them the oldest stay."""


async def translated(
    memory: Memory | None, texts: Sequence[str], by_model: ByModel, alternatives: int = 0, fuzzy: int = 100
) -> list[Translation]:
    """Return the translations of texts next to each other: by the memory, or else by the model.

    With ``fuzzy`` below 100, those of the model have the most similar segment of at least that percentage.
    """
    if memory is None:
        return await by_model(texts)
    matches = await asyncio.to_thread(Recall(memory, fuzzy).matches, texts)
    unknown = [text for text, found in zip(texts, matches, strict=True) if not is_exact(found)]
    made = iter(await by_model(unknown) if unknown else [])
    return [
        from_memory(text, found, alternatives, split=True)
        if is_exact(found)
        else replace(next(made), match=found[0] if found else None)
        for text, found in zip(texts, matches, strict=True)
    ]


class Learning:
    """Takes what clients confirm into the memories of runs, and out again where they say that it was wrong."""

    def __init__(self) -> None:
        self._undoable: OrderedDict[str, tuple[Memory, int]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, "learning")  # may wait for other processes, which lookups should not

    async def confirm(self, memory: Memory, segment: Segment, limits: ServingLimits) -> str:
        """Add a segment; returns what undoes it, which cannot be guessed, or "" where it was known.

        Raises Refusal where the memory is full or cannot be written to.
        """

        def confirmed() -> int | None:
            if len(memory) >= limits.segments:
                raise bad(f"The memory is full: it takes {inflect(limits.segments, 'segment')} at most")
            return memory.confirm(segment)

        number = await self._write(confirmed)
        if number is None:
            return ""
        token = secrets.token_urlsafe(32)
        self._undoable[token] = (memory, number)
        while len(self._undoable) > _UNDONE:
            self._undoable.popitem(last=False)
        return token

    async def undo(self, token: str) -> None:
        """Remove the segment that a token was given for; Refusal where there is none, or it was undone."""
        if token not in self._undoable:
            raise Refusal(404, "There is nothing to undo, or it is too long ago")
        memory, number = self._undoable.pop(token)
        await self._write(lambda: memory.remove([number]))

    async def _write(self, write: Callable[[], int | None]) -> int | None:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, write)
        except RunError:  # not its message, which has the path
            raise Refusal(503, "The memory cannot be written to: see whether another program writes to it") from None
