"""The report of a data check: one self-contained page, its histograms as pictures, its numbers as JSON."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.tables import Table
from anaphora.errors import DataError, MissingExtraError
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.lines import replacing
from anaphora.inspection.drawing.histograms import draw_histograms

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #22262e; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; margin: .5rem 0 2rem }}
td, th {{ padding: .15rem .8rem; text-align: right; border-bottom: 1px solid #eef1f6 }}
td:first-child, th:first-child {{ text-align: left }}
td.bar {{ color: #4570ab; text-align: left; letter-spacing: -.1em }}
li {{ margin: .4rem 0 }}
.error {{ color: #b3261e }} .warning {{ color: #9a6700 }} .note {{ color: #1f4480 }}
svg {{ max-width: 100%; height: auto }}
</style>
<h1>{title}</h1>
<h2>Findings</h2>
{findings}
{picture}
{tables}
</html>
"""


def write_report(
    folder: Path,
    title: str,
    tables: Sequence[Table],
    findings: Sequence[Finding],
    histograms: Sequence[Histogram],
    figures: Mapping[str, Any],
) -> Path:
    """Write ``check.html``, ``histograms.svg``, ``histograms.png`` and ``check.json``, with ``figures``, into a folder.

    The folder is created if it is missing, and an older report in it is replaced. Without matplotlib the page has the
    histograms only as tables. Returns the page. Raises DataError if the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Cannot create the folder {folder}: {error.strerror or error}.") from None
    picture = ""
    if histograms:
        try:
            draw_histograms(folder / "histograms.png", histograms)
            picture = draw_histograms(folder / "histograms.svg", histograms).read_text(encoding="utf-8")
        except MissingExtraError:
            pass
    items = "\n".join(f'<li><b class="{f.severity}">{f.severity}</b> {escape(str(f))}</li>' for f in findings)
    page = _PAGE.format(
        title=escape(title),
        findings=f"<ul>\n{items}\n</ul>" if findings else "<p>None.</p>",
        picture=picture[picture.find("<svg") :] if picture else "",
        tables="\n".join(map(_table, tables)),
    )
    for name, text in (("check.html", page), ("check.json", f"{figures_as_json(figures, indent=2)}\n")):
        with replacing(folder / name) as stream:
            stream.write(text.encode())
    return folder / "check.html"


def _table(table: Table) -> str:
    classes = [" class=bar" if number in table.bars else "" for number in range(len(table.columns))]
    head = "".join(f"<th>{escape(heading)}</th>" for heading in table.columns)
    rows = [
        "".join(f"<td{one}>{escape(cell)}</td>" for one, cell in zip(classes, row, strict=True)) for row in table.rows
    ]
    lines = "\n".join(f"<tr>{row}</tr>" for row in (head, *rows))
    return f"<h2>{escape(table.title)}</h2>\n<table>\n{lines}\n</table>"
