"""What was found as tables of words: the same ones for a terminal and for a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from anaphora.data.check.lengths import Histogram
from anaphora.data.check.survey import Survey

BAR = 18
"""Characters of the longest bar."""


@dataclass(frozen=True)
class Table:
    """Rows of words below headings; the first column is a name, ``bars`` columns are drawn, the others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: frozenset[int] = frozenset()


def survey_tables(survey: Survey) -> list[Table]:
    """A table of counts, one of unknown words if a part was held out, and one for each histogram."""
    tables = [_counts(survey)]
    if survey.unknown:
        tables.append(_unknown(survey))
    return [*tables, *map(_bars, survey.histograms)]


def _counts(survey: Survey) -> Table:
    columns = ("part", "side", "lines", "empty", "words", "median", "95 %", "longest", "script")
    rows = [
        (
            side.part,
            side.side,
            *(f"{count:,}" for count in (side.lines, side.empty, side.words)),
            *(f"{side.lengths.quantile(share):,}" for share in (0.5, 0.95, 1.0)),
            ", ".join(sorted(side.scripts.usual())),
        )
        for side in survey.sides
    ]
    return Table("The corpus (lengths of lines in characters)", columns, tuple(rows))


def _unknown(survey: Survey) -> Table:
    columns = ("part", "side", "running words", "unknown", "in another case only")
    rows = [
        (
            part,
            side,
            f"{words.running:,}",
            _share(words.unknown, words.running),
            _share(words.in_other_case, words.running),
        )
        for (part, side), words in survey.unknown.items()
    ]
    return Table("Words that the training part does not show", columns, tuple(rows))


def _bars(histogram: Histogram) -> Table:
    names = [name for name, _ in histogram.series]
    rows = []
    for place, label in enumerate(histogram.labels):
        cells = [label]
        for _, counts in histogram.series:
            cells += [f"{counts[place]:,}", _bar(counts[place], counts)]
        rows.append(tuple(cells))
    columns = (histogram.unit, *(heading for name in names for heading in (name, "")))
    bars = frozenset(range(2, 2 * len(names) + 1, 2))
    return Table(f"{histogram.title} (training part)", columns, tuple(rows), bars)


def _bar(count: int, counts: Sequence[int]) -> str:
    return "█" * round(BAR * count / max(1, *counts)) or ("▏" if count else "")


def _share(count: int, total: int) -> str:
    return f"{count / total:.2%}" if total else "-"
