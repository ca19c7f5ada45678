"""A worker, wherever it runs: it loads a translator, then translates the shards that it is sent, and keeps each."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple, Protocol

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.shard import MOST_FAILING, RefusedLine, Shard
from anaphora.errors import AnaphoraError, RunError
from anaphora.wording import inflect

Refuse = Callable[[int, str], None]
"""Takes the number of a line in the text, and why it has no translation."""


class Translate(Protocol):
    """Translates consecutive lines."""

    def __call__(self, lines: Sequence[str], first: int, refuse: Refuse, /) -> list[str]:
        """One translation a line, empty for those that it calls ``refuse`` with; ``first`` is the number of the first.

        AnaphoraErrors are the user's and end the work; any other exception is the fault of one of the lines.
        """


Load = Callable[[], Translate]
"""Loads a translator; it is sent to every worker, so it can be pickled."""


class Piece(NamedTuple):
    """Some lines of a shard, by their places in it."""

    begin: int
    end: int

    def halves(self) -> "tuple[Piece, Piece]":
        """Return both halves of more than one line."""
        middle = (self.begin + self.end) // 2
        return Piece(self.begin, middle), Piece(middle, self.end)


class Assignment(NamedTuple):
    """A shard to translate piece by piece, in this order; places outside of them have been ``given_up``."""

    shard: Shard
    pieces: tuple[Piece, ...]
    given_up: tuple[RefusedLine, ...]


class Ready(NamedTuple):
    """The worker has loaded the translator, or kept its shard, and waits for a shard."""


class At(NamedTuple):
    """The worker begins with a piece."""

    piece: Piece


class WorkerFailure(NamedTuple):
    """The worker ended with the user's error."""

    message: str
    exit_code: int


Said = Ready | At | WorkerFailure


class WorkerDeath(NamedTuple):
    """The worker ended without being dismissed; reported of it, not by it."""

    who: str
    how: str


Working = Generator[Said, Assignment | None]
"""A worker at work: an Assignment is sent to it after Ready, None after At."""


def working(load: Load, folder: ShardFolder) -> Working:
    """Yield the whole life of a worker, which goes on when it is asked for what comes next."""
    try:
        translate = load()
        while True:
            assigned = yield Ready()
            assert assigned is not None
            yield from _translate_shard(assigned, translate, folder)
    except AnaphoraError as error:
        yield WorkerFailure(str(error), error.exit_code)


def _translate_shard(assigned: Assignment, translate: Translate, folder: ShardFolder) -> Iterator[At]:
    shard, refused = assigned.shard, dict(assigned.given_up)
    found, failing = [""] * len(shard.lines), 0

    def careful(piece: Piece, *, again: bool = False) -> None:
        """Translate a piece; where that fails, each half by itself, down to the lines at fault.

        These are tried twice, then refused.
        """
        nonlocal failing
        first, count = shard.first + piece.begin, piece.end - piece.begin
        try:
            made = translate(shard.lines[piece.begin : piece.end], first, refused.__setitem__)
            if len(made) != count or any("\n" in translation for translation in made):
                raise ValueError("its translation is not one line")
            found[piece.begin : piece.end] = made
        except AnaphoraError:
            raise
        except Exception as error:  # of any kind: it is the line's, or it comes again with every line
            if count > 1:
                for half in piece.halves():
                    careful(half)
            elif not again:
                careful(piece, again=True)
            else:
                failing += 1
                reason = f"Line {first} cannot be translated: {type(error).__name__}: {error}"
                if failing > MOST_FAILING:
                    raise RunError(
                        f"More than {inflect(MOST_FAILING, 'line')} of shard {shard.number} fail, which is no fault of "
                        f"lines. {reason}"
                    ) from error
                refused[first] = reason

    for piece in assigned.pieces:
        yield At(piece)
        careful(piece)
    folder.keep(shard, found, map(RefusedLine._make, sorted(refused.items())))
