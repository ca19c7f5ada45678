"""A worker, wherever it runs: it loads a translator, then translates the shards that it is sent, and keeps each."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple, Protocol

from anaphora.bulk.folder import ShardFolder
from anaphora.bulk.shard import MOST_FAILING, Refused, Shard
from anaphora.errors import AnaphoraError, RunError
from anaphora.wording import counted

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
        """Both halves of more than one line."""
        middle = (self.begin + self.end) // 2
        return Piece(self.begin, middle), Piece(middle, self.end)


class Assignment(NamedTuple):
    """A shard to translate piece by piece, in this order; places outside of them have been ``given_up``."""

    shard: Shard
    pieces: tuple[Piece, ...]
    given_up: tuple[Refused, ...]


class Ready(NamedTuple):
    """The worker has loaded the translator."""


class At(NamedTuple):
    """The worker begins with a piece."""

    piece: Piece


class Done(NamedTuple):
    """The worker has kept its shard."""


class Failed(NamedTuple):
    """The worker ended with the user's error."""

    message: str
    exit_code: int


Said = Ready | At | Done | Failed


class Died(NamedTuple):
    """The worker ended without being dismissed; reported of it, not by it."""

    who: str
    how: str


Working = Generator[Said, Assignment | None]
"""A worker at work: an Assignment is sent to it after Ready and Done, None after At."""


def working(load: Load, folder: ShardFolder) -> Working:
    """Yield the whole life of a worker, which goes on when it is asked for what comes next."""
    try:
        translate = load()
        said: Said = Ready()
        while True:
            assigned = yield said
            assert assigned is not None
            yield from _translate_shard(assigned, translate, folder)
            said = Done()
    except AnaphoraError as error:
        yield Failed(str(error), error.exit_code)


def _translate_shard(assigned: Assignment, translate: Translate, folder: ShardFolder) -> Iterator[At]:
    shard = assigned.shard
    found = [""] * len(shard.lines)
    refused = {line: reason for line, reason in assigned.given_up}
    careful = _Careful(translate, shard, refused)
    for piece in assigned.pieces:
        yield At(piece)
        for place, translation in careful.translated(piece):
            found[place] = translation
    folder.keep(shard, found, (Refused(line, refused[line]) for line in sorted(refused)))


class _Careful:
    """Translates pieces; where that fails, each half by itself, down to the lines at fault."""

    def __init__(self, translate: Translate, shard: Shard, refused: dict[int, str]) -> None:
        self._translate, self._shard, self._refused = translate, shard, refused
        self._failing = 0

    def translated(self, piece: Piece, *, again: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the translations of a piece by place, without those of failing lines.

        These are tried twice, then refused.
        """
        first = self._shard.first + piece.begin
        try:
            found = self._translate(self._shard.lines[piece.begin : piece.end], first, self._refused.__setitem__)
            if len(found) != piece.end - piece.begin or any("\n" in translation for translation in found):
                raise ValueError("its translation is not one line")
        except AnaphoraError:
            raise
        except Exception as error:  # of any kind: it is the line's, or it comes again with every line
            if piece.end - piece.begin > 1:
                for half in piece.halves():
                    yield from self.translated(half)
            elif not again:
                yield from self.translated(piece, again=True)
            else:
                self._give_up(first, error)
            return
        yield from enumerate(found, piece.begin)

    def _give_up(self, line: int, error: Exception) -> None:
        reason = f"Line {line} cannot be translated: {type(error).__name__}: {error}"
        self._failing += 1
        if self._failing > MOST_FAILING:
            raise RunError(
                f"More than {counted(MOST_FAILING, 'line')} of shard {self._shard.number} fail, which is no fault of "
                f"lines. {reason}"
            ) from error
        self._refused[line] = reason
