"""The survey as tables of strings, for a terminal or a page."""

from dataclasses import dataclass

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.survey import Survey

_COUNTS = ("split", "side", "lines", "empty", "words", "median", "95 %", "longest", "script")
_UNKNOWN = ("split", "side", "running words", "unknown", "in another case only")
_BAR = 18
"""Characters of the longest bar."""


@dataclass(frozen=True)
class Table:
    """Rows of cells below headings: a name, then numbers; the columns ``bars`` have bars."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: frozenset[int] = frozenset()


def survey_tables(survey: Survey) -> list[Table]:
    """Return a table of counts, one of unknown words if a split is held out, and one for each histogram."""
    counts = [
        (
            side.split,
            side.side,
            *(f"{count:,}" for count in (side.lines, side.empty, side.words)),
            *(f"{side.lengths.quantile(fraction):,}" for fraction in (0.5, 0.95, 1.0)),
            ", ".join(sorted(side.scripts())),
        )
        for side in survey.sides
    ]
    tables = [Table("The corpus (lengths of lines in characters)", _COUNTS, tuple(counts))]
    unknown = [
        (
            side.split,
            side.side,
            f"{words.running:,}",
            *(f"{n.count / words.running:.2%}" if words.running else "-" for n in (words.unknown, words.in_other_case)),
        )
        for side in survey.sides
        if (words := side.unknown)
    ]
    if unknown:
        tables.append(Table("Words that are not in the training split", _UNKNOWN, tuple(unknown)))
    return [*tables, *map(_bars, survey.histograms)]


def _bars(histogram: Histogram) -> Table:
    names = [name for name, _ in histogram.series]
    cells = [
        [cell for n in counts for cell in (f"{n:,}", "█" * round(_BAR * n / max(1, *counts)) or ("▏" if n else ""))]
        for _, counts in histogram.series
    ]
    rows = [
        (label, *(cell for series in cells for cell in series[2 * place : 2 * place + 2]))
        for place, label in enumerate(histogram.labels)
    ]
    columns = (histogram.unit, *(heading for name in names for heading in (name, "")))
    return Table(f"{histogram.title} (training split)", columns, tuple(rows), frozenset(range(2, len(columns), 2)))
