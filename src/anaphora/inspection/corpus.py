"""The report of a data check: one self-contained page, its histograms as pictures, its numbers as JSON."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from anaphora.datacheck.distribution import Histogram
from anaphora.datacheck.findings import Finding
from anaphora.datacheck.tables import Table
from anaphora.errors import DataError, MissingExtraError
from anaphora.formats.figures import figures_as_json
from anaphora.formats.replacing import replacing

_COLOURS = ("#4570ab", "#c98a4b")
_INK, _QUIET = "#22262e", "#7b828e"

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


def draw_histograms(path: Path, histograms: Sequence[Histogram]) -> Path:
    """Draw histograms side by side; the suffix chooses .png or .svg. Raises MissingExtraError without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    # the same histograms give the same bytes, and text stays text
    with matplotlib.rc_context({"svg.hashsalt": "anaphora", "svg.fonttype": "none"}), replacing(path) as stream:
        figure = Figure(figsize=(5.5 * len(histograms), 3.6), layout="constrained")
        panels = figure.subplots(1, len(histograms), squeeze=False)[0]
        for axes, histogram in zip(panels, histograms, strict=True):
            width = 0.85 / len(histogram.series)
            for number, (name, counts) in enumerate(histogram.series):
                places = [place + width * number for place in range(len(counts))]
                axes.bar(places, counts, width, align="edge", color=_COLOURS[number % len(_COLOURS)], label=name)
            middles = [place + 0.425 for place in range(len(histogram.labels))]
            axes.set_xticks(middles, histogram.labels, rotation=45, ha="right", fontsize=8, color=_INK)
            axes.tick_params(axis="y", labelsize=8, labelcolor=_QUIET)
            title = f"{histogram.title} ({histogram.unit})"
            axes.set_title(title, loc="left", fontsize=10, color=_INK, parse_math=False)
            axes.spines[["top", "right"]].set_visible(False)
            if len(histogram.series) > 1:
                axes.legend(frameon=False, fontsize=9)
        form = path.suffix.removeprefix(".")
        figure.savefig(stream, format=form, dpi=150, metadata={"Date": None} if form == "svg" else {})
    return path


def _table(table: Table) -> str:
    classes = [" class=bar" if number in table.bars else "" for number in range(len(table.columns))]
    head = "".join(f"<th>{escape(heading)}</th>" for heading in table.columns)
    rows = [
        "".join(f"<td{one}>{escape(cell)}</td>" for one, cell in zip(classes, row, strict=True)) for row in table.rows
    ]
    lines = "\n".join(f"<tr>{row}</tr>" for row in (head, *rows))
    return f"<h2>{escape(table.title)}</h2>\n<table>\n{lines}\n</table>"
