"""Columns of tables: named by headings (languages, source and target), by the keys of objects, or counted from 1."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from anaphora.errors import DataError
from anaphora.languages import code_of
from anaphora.wording import inflect, nearest

SIDES = ("source", "src", "sentence1"), ("target", "tgt", "trg", "sentence2")
"""Names of the two sides in headings."""
_SOURCES, _TARGETS = map(frozenset, SIDES)
_BESIDE = frozenset(["column", "lang", "language", "phrase", "segment", "sentence", "string", "text"])
"""Words that headings add to a name, as in "Source text" and "sentence_de"."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)?")
_LOCALE = re.compile(r"[a-z]{2,3}([-_][A-Z][a-z]{3})?[-_]([A-Z]{2}|\d{3})|[a-z]{2,3}[-_][A-Z][a-z]{3}")
"""A language with its region or script, as in "en-US" and "zh-Hant" (BCP 47), or "en_US"."""


class Column(NamedTuple):
    """Name in a cell of a heading."""

    name: str
    """A language, by its code where that is known, or a side; in lower case."""
    spelt: bool
    """True if it is a language that is written out, which its code alone is not."""

    @classmethod
    def of(cls, cell: str) -> "Column":
        """Return the column of a heading: of "# Source text" "source", of "German" and "sentence_de" "de"."""
        words = [word for word in _WORD.findall(cell.casefold()) if word not in _BESIDE]
        word = words[0] if len(words) == 1 else cell.strip().casefold()
        code = code_of(word)
        return cls(code or word, bool(code))


def is_heading(cells: Sequence[str], sides: tuple[str, str] = ("", "")) -> bool:
    """True if two cells name languages, with a region or those of ``sides``, or sides."""
    columns = [Column.of(cell) for cell in cells]
    names = _SOURCES | _TARGETS | {name for side in sides if side for name in (side.casefold(), _language(side))}
    known = (
        one.spelt or one.name in names or _LOCALE.fullmatch(cell.strip())
        for one, cell in zip(columns, cells, strict=True)
    )
    return len({column.name for column in columns}) == len(cells) == 2 and all(known)


def is_reversed(cells: Sequence[str], sides: tuple[str, str]) -> bool:
    """True if a heading names the target first."""
    first, second = (Column.of(cell).name for cell in cells)
    target_first = first in _TARGETS and second in _SOURCES
    source, target = (side.casefold() for side in sides)
    if _language(source) != _language(target):
        first, second, source, target = map(_language, (first, second, source, target))
    return target_first or (second, first) == (source, target)


def _language(code: str) -> str:
    """Return a code without its region and script."""
    return re.split("[-_]", code.casefold())[0]


class TableColumns(NamedTuple):
    """Columns of a table, one for each side: the input, the output, and others."""

    usual: tuple[tuple[str, ...], ...]
    """Names that headings often have for each side, in lower case."""
    chosen: tuple[int | str, ...] = ()
    """The columns of the sides by number or name, where they are known."""
    header: tuple[str, ...] = ()
    """All columns of the training table in which they were found, by name, or by number where it has no heading; empty
    where a person chose them."""

    @classmethod
    def of(cls, data: Any) -> "TableColumns":
        """Return the columns that a [data] table reads."""
        return cls(data.usual_columns, data.columns, data.header)

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
        if not (chosen and not self.header) and None not in usual and len({*usual}) == len(usual):
            return [place or 0 for place in usual], True
        if not keys and (found := self._by_number(len(cells), sides)):
            return found, False
        if not chosen:
            return None
        lacking = next((str(one) for one, place in zip(chosen, places, strict=True) if place is None), "")
        near = nearest(lacking.casefold(), heads)
        read = f"{'columns' if len(chosen) > 1 else 'a column'} {' and '.join(map(repr, chosen))}"
        of = f" as training had ({', '.join(self.header)[:60]})" if self.header else ""
        there = f"{inflect(len(cells), 'column')} ({', '.join(map(str, cells))[:60]})"
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


def chosen_columns(columns: Sequence[int | str], header: Sequence[str] = ()) -> dict[str, Any]:
    """Options of an experiment whose files have these columns; with the ``header`` of the table they were found in."""
    return {"data.columns": tuple(columns), "data.header": tuple(header)}
