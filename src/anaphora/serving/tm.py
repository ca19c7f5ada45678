"""Translation memories of runs: texts come back as they were confirmed, and confirmed ones enter.

Texts are looked up before they are queued, so that those of other requests are never their neighbours.
"""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from anaphora.errors import RunError
from anaphora.memory import Memory, Segment
from anaphora.serving.batching import Batching, Search
from anaphora.serving.limits import ServingLimits
from anaphora.serving.refusal import Refusal, bad
from anaphora.tasks.translation.tm_lookup import Recall, Recollection
from anaphora.tasks.translation.translation import Translation
from anaphora.wording import inflect

ByModel = Callable[[Sequence[str]], Awaitable[list[Translation]]]
"""Function from texts to their translations by a model, in order."""
CONFIRMED = "server"
"""Origin of segments that clients confirmed; with a key its name follows, after a colon."""
_UNDONE = 1_000
"""Confirmed segments that can still be undone; beyond them the oldest stay."""


async def translated(
    batching: Batching, search: Search, texts: Sequence[str], by_model: ByModel, fuzzy: int = 100
) -> list[Translation]:
    """Return the translations of texts next to each other: sentence by sentence by the memory, or else by the model.

    With ``fuzzy`` below 100, those of the model have the most similar segment of at least that percentage.
    """
    served, options = search.served, search.options
    if served.memory is None:
        return await by_model(texts)
    look = partial(list[Recollection], Recall(served.memory, served.predictor, fuzzy).recall(texts))
    # tags may need the model
    found = await (batching.run(look) if any("<" in text for text in texts) else asyncio.to_thread(look))
    unknown = [str(one.unknown) for one in found if one.unknown]
    made, nothing = iter(await by_model(unknown) if unknown else []), Translation("", 0.0, True)
    splitter = served.predictor.splitter
    return [one.translation(next(made) if one.unknown else nothing, options, splitter) for one in found]


class Learning:
    """Takes what clients confirm into the memories of runs, and out again where they say that it was wrong."""

    def __init__(self) -> None:
        self._undoable: OrderedDict[str, tuple[Memory, int]] = OrderedDict()
        self.threads = ThreadPoolExecutor(1, "learning")  # may wait for other processes, which lookups should not

    async def confirm(self, memory: Memory, segment: Segment, limits: ServingLimits) -> str:
        """Add a segment; return a secret token that undoes it, or "" if the memory has it already.

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
            return await asyncio.get_running_loop().run_in_executor(self.threads, write)
        except RunError:  # not its message, which has the path
            raise Refusal(503, "The memory cannot be written to: see whether another program writes to it") from None
