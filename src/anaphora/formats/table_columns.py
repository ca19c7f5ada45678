"""Columns of tables that a model reads: named by a heading or the keys of objects, or counted from 1."""

from collections.abc import Sequence
from typing import NamedTuple

from anaphora.config import nearest
from anaphora.errors import DataError
from anaphora.wording import counted


class TableColumns(NamedTuple):
    """Columns of a table, one for each side: the input, the output, and others."""

    usual: tuple[tuple[str, ...], ...]
    """Names that headings often have for each side, in lower case."""
    chosen: tuple[int | str, ...] = ()
    """The columns of the sides by number or name, where they are known."""
    header: tuple[str, ...] = ()
    """All columns of the training table in which they were found, by name, or by number where it has no heading; empty
    where a person chose them."""

    def find(
        self, cells: Sequence[str], where: str, sides: Sequence[int] = (0, 1), *, keys: bool = False
    ) -> tuple[list[int], bool] | None:
        """Return the places of ``sides`` from 0, and True if these first ``cells`` are a heading, as ``keys`` are.

        None where nothing is known of the columns, and the cells name none. Raises DataError, which names ``where``,
        for a table that lacks the columns, or whose columns may be others than those of training.
        """
        heads = [cell.strip().casefold() for cell in cells]
        chosen = [self.chosen[side] for side in sides if side < len(self.chosen)]
        places = [_place(heads, one) for one in chosen]
        # a single letter may well be a value
        usual = [_place(heads, *(name for name in self.usual[side] if keys or len(name) > 1)) for side in sides]
        if len(chosen) == len(sides) and None not in places:
            named = any(isinstance(one, str) for one in chosen)
            if named or (not self.header and max(map(int, chosen)) <= len(cells)):
                return [place or 0 for place in places], named or keys or places == usual
        if not (chosen and not self.header) and None not in usual:
            return [place or 0 for place in usual], True
        if not keys and (found := self._by_number(len(cells), sides)):
            return found, False
        if not chosen:
            return None
        lacking = next((str(one) for one, place in zip(chosen, places, strict=True) if place is None), "")
        near = nearest(lacking.casefold(), heads)
        read = f"{'columns' if len(chosen) > 1 else 'a column'} {' and '.join(map(repr, chosen))}"
        of = f" as training had ({', '.join(self.header)[:60]})" if self.header else ""
        there = f"{counted(len(cells), 'column')} ({', '.join(map(str, cells))[:60]})"
        raise DataError(f"{where} should have {read}{of}, but has {there}.{near} Name them with the option columns.")

    def _by_number(self, count: int, sides: Sequence[int]) -> list[int]:
        """Return the places in rows of so many cells below no heading; none where they cannot be told."""
        if count == len(sides) == 1:
            return [0]  # nothing but the input
        numbers, lacking = [one for one in self.chosen if isinstance(one, int)], len(self.header) - count
        known = len(numbers) == len(self.chosen) > max(sides)
        if not known or lacking not in (0, int(1 not in sides)):  # all columns, or no output
            return []
        return [numbers[side] - 1 - lacking * (numbers[side] > numbers[1]) for side in sides]

    @property
    def numbers(self) -> list[int]:
        """The columns of the sides in the training table, from 1."""
        return [self.header.index(one) + 1 if isinstance(one, str) else one for one in self.chosen]

    def found_in(self, cells: Sequence[str], places: Sequence[int], *, headed: bool) -> "TableColumns":
        """Return the columns as a table with these first cells has them."""
        header = tuple(cell.strip() if headed else str(number) for number, cell in enumerate(cells, 1))
        return self._replace(chosen=tuple(header[place] if headed else place + 1 for place in places), header=header)


def new_name(names: Sequence[str]) -> str:
    """Return the name of a column of predictions that none of a table has."""
    taken = {name.strip().casefold() for name in names}
    numbered = (f"prediction_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in ("prediction", *numbered) if name not in taken)


def _place(heads: Sequence[str], *names: int | str) -> int | None:
    """Return the place of the first column with one of these names, or of this number; None for none."""
    numbered = next((name - 1 for name in names if isinstance(name, int)), None)
    folded = (name.strip().casefold() for name in names if isinstance(name, str))
    return next((heads.index(name) for name in folded if name in heads), numbered)
