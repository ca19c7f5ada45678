"""Pen strokes as XML: IAM-OnDB (Liwicki and Bunke 2005) and InkML (W3C 2011), told apart by their root element.

IAM-OnDB: ``lineStrokes/a01/a01-000/a01-000u-01.xml`` is line 1 of the text in ``ascii/a01/a01-000/a01-000u.txt``, below
``CSR:``. Where there is no such file, the text is that of a ``.txt`` of the same name beside the strokes, if any.

InkML: ``trace`` elements of points with the channels of ``traceFormat`` (X and Y where there is none), and the text in
an ``annotation`` of type truth, label, transcription or text.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.lines import read_lines
from anaphora.formats.safe_xml import Element, xml_elements
from anaphora.formats.traces import Trace, ink
from anaphora.wording import inflect

_TRUTHS = ("truth", "label", "transcription", "text")
_TIMES = ("t", "time")
_INKML_STROKE = "trace"


def read_ink_xml(path: Path) -> Iterator[Trace]:
    """Yield the one sequence of a file; DataError with its line for a fault, and as ``xml_elements`` does."""
    points: list[list[float]] = []
    strokes: list[list[list[float]]] = []
    channels: list[str] = []
    text, root = "", ""
    for element in xml_elements(path):
        place, root = f"{path}:{element.line}", element.name
        if element.name == "Point":
            points.append([_number(element, name, place) for name in ("x", "y", "time") if name in element.attributes])
        elif element.name == "Stroke":
            if not points:
                raise DataError(f"{place} is a stroke without points: remove it.")
            strokes.append(points)
            points = []
        elif element.name == "channel":
            channels.append(element.attributes.get("name", "").lower())
        elif element.name == "annotation" and element.attributes.get("type", "").lower() in _TRUTHS:
            text = text or element.text.strip()
        elif element.name == _INKML_STROKE:
            strokes.append(_trace_points(element.text, channels or ["x", "y"], place))
    if not strokes:
        raise DataError(f"{path} should have strokes of IAM-OnDB or InkML, but is <{root}> without any: give ink.")
    yield ink(str(path), strokes, text or _text_of(path))


def _number(element: Element, name: str, place: str) -> float:
    try:
        return float(element.attributes[name])
    except ValueError:
        raise DataError(f"{place} has {name} = '{element.attributes[name]}', which is no number: correct it.") from None


def _trace_points(text: str, channels: Sequence[str], place: str) -> list[list[float]]:
    """Points of InkML, explicit values alone."""
    if "x" not in channels or "y" not in channels:
        raise DataError(f"{place} has the channels {', '.join(channels)}, but X and Y are needed: add them.")
    places = [channels.index(name) for name in ("x", "y", *_TIMES) if name in channels][:3]
    points = []
    for point in text.split(","):
        values = point.split()
        try:
            points.append([float(values[at]) for at in places])
        except (ValueError, IndexError):
            raise DataError(
                f"{place} has the point '{point.strip()[:40]}', which should be {len(channels)} numbers for "
                f"{', '.join(channels)}: write explicit values."
            ) from None
    return points


def _text_of(path: Path) -> str:
    """Return the line of a text of IAM-OnDB, or a text beside the strokes; empty without."""
    found = re.fullmatch(r"(.+)-(\d+)\.xml(?:\.gz)?", path.name)
    parts = list(path.parts)
    if found and "lineStrokes" in parts:
        place = len(parts) - 1 - parts[::-1].index("lineStrokes")
        # lineStrokes/lineStrokes and ascii/ascii, as the archives unpack
        for first in (place, place - 1) if parts[place - 1 : place] == ["lineStrokes"] else (place,):
            below = ["ascii"] * (place - first + 1)
            text = Path(*parts[:first], *below, *parts[place + 1 : -1], f"{found[1]}.txt")
            if text.is_file():
                return _transcribe(text, int(found[2]))
    beside = path.parent / f"{path.name.removesuffix('.gz').rpartition('.')[0]}.txt"
    return " ".join(line.strip() for line in read_lines(beside)).strip() if beside.is_file() else ""


def _transcribe(path: Path, number: int) -> str:
    lines = [line.strip() for line in read_lines(path)]
    after = lines[lines.index("CSR:") + 1 :] if "CSR:" in lines else lines
    after = [line for line in after if line]
    if number > len(after):
        raise DataError(
            f"{path} has {inflect(len(after), 'line')}, but there are strokes of line {number}: add its text."
        )
    return after[number - 1]
