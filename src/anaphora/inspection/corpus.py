"""The report of a data check: one self-contained page, its histograms as pictures, its numbers as JSON."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.forecast import Forecast
from anaphora.datacheck.tables import Table
from anaphora.errors import MissingExtraError, refuse_os_errors
from anaphora.formats.html_table import table
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.lines import replacing
from anaphora.inspection.drawing import canvas, charts
from anaphora.inspection.page import page, picture

_FORECAST = "Scores on the validation split, measured and expected with an interval; the numbers are below."


def write_report(
    folder: Path,
    title: str,
    tables: Sequence[Table],
    findings: Sequence[Finding],
    histograms: Sequence[Histogram],
    forecasts: Sequence[Forecast],
    figures: Mapping[str, Any],
) -> Path:
    """Write ``check.html``, ``histograms.svg``, ``histograms.png`` and ``check.json``, with ``figures``, into a folder.

    The folder is created if it is missing, and an older report in it is replaced. Without matplotlib the page has the
    histograms only as tables. Returns the page. Raises DataError if the folder cannot be written to.
    """
    with refuse_os_errors(f"Cannot create the folder {folder}: "):
        folder.mkdir(parents=True, exist_ok=True)
    items = "\n".join(f'<li><b class="{f.severity}">{f.severity}</b> {escape(str(f))}</li>' for f in findings)
    body = ["<h2>Findings</h2>", f"<ul>\n{items}\n</ul>" if findings else "<p>None.</p>"]
    if histograms:
        paths = [folder / f"histograms.{form}" for form in ("png", "svg")]
        with suppress(MissingExtraError):
            canvas.draw(paths, lambda: charts.histograms_figure(histograms))
            svg = paths[1].read_text(encoding="utf-8")
            body.append(picture(svg[svg.find("<svg") :], "Histograms; their numbers are below"))
    with suppress(MissingExtraError):
        for found in forecasts:
            body.append(picture(canvas.svg(partial(charts.forecast_figure, found)), _FORECAST, _FORECAST))
    body += map(_table, tables)
    for name, text in (("check.html", page(title, *body)), ("check.json", f"{figures_as_json(figures, indent=2)}\n")):
        with replacing(folder / name) as stream:
            stream.write(text.encode())
    return folder / "check.html"


def _table(shown: Table) -> str:
    count = len(shown.columns)
    classes = ["", *("bar" if number in shown.bars else "count" for number in range(1, count))]
    rows = [[escape(cell) for cell in row] for row in shown.rows]
    return f"<h2>{escape(shown.title)}</h2>\n{table([escape(one) for one in shown.columns], rows, classes)}"
