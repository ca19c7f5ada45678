"""Lessons: tables of formulas, worked out row by row, as text and as a page."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from inspect import getsourcelines
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from xml.etree import ElementTree

import numpy as np
import torch

from anaphora.errors import ConfigError, MissingExtraError
from anaphora.files import parse_toml
from anaphora.inspection.explain.checks import run_unit
from anaphora.inspection.explain.formula import Formulas, Symbol, plain, symbol, term_of, typeset
from anaphora.inspection.page import page, picture
from anaphora.wording import check_known

FOLDER = Path(__file__).parent
LESSONS = tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
_SYMBOL = re.compile(r"\b([A-Za-z]+)_(?:\{(.+?)\}|(\w+))")
_STYLE = (FOLDER / "lesson.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Line:
    """Value with its formula; formulas are MathML."""

    key: str
    """Symbol in plain letters: "h[1]"."""
    symbol: str
    formula: str
    """Empty where the value is given."""
    numbers: str
    """The formula with its numbers."""
    value: Any
    remark: str = ""
    reads: tuple[str, ...] = ()
    """Keys of the values that the formula reads."""

    def json(self) -> dict[str, Any]:
        """Return plain text in place of MathML."""
        shown = {name: plain(getattr(self, name)) for name in ("symbol", "formula", "numbers")}
        return {**shown, "value": np.asarray(self.value).tolist(), "remark": self.remark}

    def text(self, blank: bool) -> str:
        """Return the line without its symbol; with ``blank``, a gap in place of what is worked out."""
        if blank and self.formula:
            return f"{plain(self.formula)} = ________"
        shown = [self.formula, self.numbers, typeset(self.value, alone=True)]
        remark = f"  ({self.remark})" if self.remark else ""
        return " = ".join(plain(one) for one in dict.fromkeys(shown) if one) + remark


@dataclass(frozen=True)
class Section:
    """Values that belong together, in the order in which they are worked out."""

    title: str
    text: str
    kernels: tuple[str, ...]
    """Functions that compute the same: "kernels.cells.lstm:Lstm.forward"."""
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Lesson:
    """Worked example: its values, worked out section by section from the formulas that it shows."""

    title: str
    source: str
    """Source of the equations, and perhaps of the numbers."""
    seed: int | None
    """Seed of the numbers; None for those that the lesson has by itself."""
    sections: tuple[Section, ...]
    difference: float
    """Greatest absolute difference from what the kernels compute."""
    drawing: tuple[tuple[str, ...], ...]
    """Keys of values in rows and columns; empty where nothing stands."""
    lights: Mapping[str, str]
    """Names of values in the drawing by names of others, such as gradients, that light them up."""
    blank: bool = False
    """True if it is printed without the answers."""

    @cached_property
    def lines(self) -> dict[str, Line]:
        """All lines by their keys."""
        return {line.key: line for section in self.sections for line in section.lines}

    def box_of(self, key: str) -> str:
        """Return the box of the drawing that a value lights up; empty where it has none."""
        name, bracket, places = key.partition("[")
        names = (name, self.lights.get(name, name), name.removeprefix("d"))
        return next((box for one in names if (box := f"{one}{bracket}{places}") in self._drawn), "")

    def read_boxes(self, key: str, own: str = "") -> Iterator[str]:
        """Yield the boxes that a value is computed from, directly or through values without a box of their own."""
        own = own or self.box_of(key)
        for read in self.lines[key].reads if key in self.lines else ():
            box = self.box_of(read)
            if box and box != own:
                yield box
            elif read != key:
                yield from self.read_boxes(read, own)

    @cached_property
    def _drawn(self) -> list[str]:
        return [key for row in self.drawing for key in row if key]

    def json(self) -> dict[str, Any]:
        sections = [
            {"title": one.title, "text": one.text, "lines": [line.json() for line in one.lines]}
            for one in self.sections
        ]
        head = {name: getattr(self, name) for name in ("title", "source", "seed", "difference")}
        return {**head, "sections": sections}

    def __str__(self) -> str:
        return self.text(self.blank)

    def text(self, blank: bool = False) -> str:
        """Return the lesson for a terminal; with ``blank``, without the answers."""
        rows = [self.title, *self._head]
        for section in self.sections:
            rows += ["", section.title, *([section.text] if section.text else [])]
            symbols = [plain(line.symbol) for line in section.lines]
            width = max(map(len, symbols), default=0)
            rows += [f"  {one:<{width}} = {line.text(blank)}" for one, line in zip(symbols, section.lines, strict=True)]
            rows += [] if blank else [f"  Kernel: {_kernel(one)[0]}" for one in section.kernels]
        return "\n".join(rows if blank else [*rows, "", self._checked])

    def html(self, blank: bool = False) -> str:
        """Return the lesson as one page that needs nothing else; with ``blank``, without the answers."""
        numbered = {key: number for number, key in enumerate(self.lines)}
        style, body = [_STYLE], [f"<p>{_prose(one)}</p>" for one in self._head]
        body.append('<div class="lesson">')
        if self._svg:
            style += [self._lighting(number, key) for key, number in numbered.items()]
            body.append(picture(self._svg, f"{self.title}: what each row computes, and what it reads"))
        body.append("<div>")
        for section in self.sections:
            body += [f"<h2>{_prose(section.title)}</h2>", *([f"<p>{_prose(section.text)}</p>"] if section.text else [])]
            rows = [_row(numbered[line.key], line, blank) for line in section.lines]
            body += ['<div class="given">', *rows, "</div>"] if section is self.sections[0] else rows
            for place, code in () if blank else map(_kernel, section.kernels):
                body += [f"<details><summary>Kernel: {escape(place)}</summary>"]
                body += [f'<pre tabindex="0">{escape(code)}</pre></details>']
        body += ["</div>\n</div>", *([] if blank else [f"<p>{escape(self._checked)}</p>"])]
        return page(self.title, "<style>", *style, "</style>", *body)

    @cached_property
    def _svg(self) -> str:
        """The drawing; empty without matplotlib."""
        from anaphora.inspection.drawing import canvas, diagrams

        try:
            return canvas.svg(lambda: diagrams.lesson_figure(self.drawing, self.arrows))
        except MissingExtraError:
            return ""

    @cached_property
    def arrows(self) -> list[tuple[str, str]]:
        """Pairs of boxes, the second of which is computed from the first."""
        return [(start, end) for end in self._drawn for start in dict.fromkeys(self.read_boxes(end))]

    def _lighting(self, number: int, key: str) -> str:
        """Return the style that lights up the drawing while a row has the pointer or the focus."""
        own, reads = self.box_of(key), [*dict.fromkeys(self.read_boxes(key))]
        marks = {"own": [f"#box{self._drawn.index(own)}"] if own else []}
        marks["read"] = [f"#box{self._drawn.index(one)}" for one in reads]
        marks["read"] += [f"#arrow{n}" for n, (start, end) in enumerate(self.arrows) if end == own and start in reads]
        return "\n".join(
            f":root:has(#row{number}:is(:hover, :focus)) :is({', '.join(ids)}) path "
            f"{{ stroke: var(--{name}) !important; stroke-width: 3px !important }}"
            for name, ids in marks.items()
            if ids
        )

    @property
    def _head(self) -> list[str]:
        return [self.source, *([] if self.seed is None else [f"Numbers of seed {self.seed}."])]

    @property
    def _checked(self) -> str:
        return f"The kernels of this package give the same numbers within {self.difference:.1e}."


def lesson(name: str, numbers: Mapping[str, Any] | None = None, seed: int | None = None) -> Lesson:
    """Return a lesson, worked out.

    ``numbers`` take the place of given ones by their symbols; a ``seed`` draws all that are not whole. Raises
    ConfigError for an unknown lesson or symbol, and for numbers of another shape or that cannot be worked out.
    """
    check_known("lesson", name, LESSONS)
    table = parse_toml((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    given = _given(table["given"] if seed is None else _draw(table["given"], np.random.default_rng(seed)))
    for key, value in _given(numbers or {}).items():
        check_known("number", key, given)
        old, new = np.asarray(given[key]), np.asarray(value)
        alike = new.shape == old.shape and np.can_cast(new.dtype, old.dtype, "same_kind")
        if not alike or (old.dtype.kind == "i" and new.min() < min(old.min(), 1)):
            example, shown = plain(typeset(given[key])), plain(typeset(value))
            raise ConfigError(
                f"{key} should be like {example}, but is {shown}: give as many, counts and places from 1."
            )
        given[key] = new * 1.0 if old.dtype.kind == "f" else value
    formulas = Formulas(dict(given))
    sections = [Section("Given", table.get("text", ""), (), tuple(_given_line(*one) for one in given.items()))]
    with np.errstate(all="ignore"):
        table |= _named(table["make"])(given) if "make" in table else {}
        for one in table["sections"]:
            head = one["title"], one.get("text", ""), tuple(one.get("kernels", ()))
            sections.append(Section(*head, tuple(_lines(formulas, one.get("loop", ""), one["rows"], {}))))
        theirs = dict(_named(table["check"])(formulas.values)) if "check" in table else {}
        for unit in table.get("units", ()):
            theirs |= run_unit(formulas.values, unit)
    drawing = tuple(tuple("" if key == "." else key for key in row.split()) for row in table.get("drawing", ()))
    ours = [np.ravel(formulas.values[key]) for key in theirs]
    kernels = [torch.as_tensor(one, dtype=torch.float64).detach().numpy().ravel() for one in theirs.values()]
    difference = float(np.abs(np.concatenate(ours) - np.concatenate(kernels)).max())
    return Lesson(table["title"], table["source"], seed, tuple(sections), difference, drawing, table.get("lights", {}))


def _lines(formulas: Formulas, loop: str, rows: Sequence[Any], outer: Mapping[str, Any]) -> Iterator[Line]:
    """Yield rows, worked out for each number of their loops; a list of rows has its own loop at its head."""
    for numbers in formulas.loops(loop, outer):
        for row in rows:
            if isinstance(row, list):
                yield from _lines(formulas, row[0], row[1:], numbers)
                continue
            formula, _, remark = row.format_map(numbers).partition(" # ")
            left, _, right = formula.partition(" = ")
            named: Symbol = formulas.evaluate(left, numbers)
            formulas.reads.clear()
            term = term_of(formulas.evaluate(right, numbers))
            if not isinstance(term.value, str) and not np.isfinite(term.value).all():
                raise ConfigError(f"{named.key()} has no finite value with these numbers: give others.")
            formulas.values[named.key()] = term.value
            shown = symbol(named.name, named.places), term.mathml(), term.mathml(numbers=True)
            yield Line(named.key(), *shown, term.value, remark.strip(), tuple(formulas.reads))


def _given(table: Mapping[str, Any], above: Sequence[str] = ()) -> dict[str, Any]:
    """Return given values by their keys: numbers, words, vectors and matrices; a table p has p[A], p[B], .."""
    found = dict[str, Any]()
    for name, value in table.items():
        path = [*above, name]
        if isinstance(value, dict):
            found |= _given(value, path)
        else:
            key = f"{path[0]}[{','.join(path[1:])}]" if above else name
            found[key] = np.array(value) if isinstance(value, list) else value
    return found


def _draw(value: Any, generator: np.random.Generator) -> Any:
    """Return other numbers of the same shape and range, in tenths; zeros, whole numbers and words stay.

    Vectors and tables that sum to 1 do so again, in hundredths.
    """
    if isinstance(value, dict):
        if all(isinstance(one, float) for one in value.values()) and math.isclose(sum(value.values()), 1):
            return dict(zip(value, _draw([*value.values()], generator), strict=True))
        return {name: _draw(one, generator) for name, one in value.items()}
    old = np.asarray(value)
    if old.dtype.kind != "f" or not old.any():
        return value
    if old.ndim and old.min() >= 0 and np.allclose(old.sum(-1), 1):
        parts = generator.integers(1, 10, old.shape)
        new = np.floor(100 * parts / parts.sum(-1, keepdims=True))
        new[..., -1] += 100 - new.sum(-1)
        return (new / 100).tolist()
    most = max(1, round(10 * np.abs(old).max()))
    return (generator.integers(-most if old.min() < 0 else 1, most, old.shape, endpoint=True) / 10).tolist()


def _given_line(key: str, value: Any) -> Line:
    name, _, places = key.partition("[")
    shown = [int(one) if one.isdigit() else one for one in places.rstrip("]").split(",") if one]
    return Line(key, symbol(name, shown), "", "", value)


def _row(number: int, line: Line, blank: bool) -> str:
    """Return a line as HTML: its symbol, and beside it formula, numbers and answer."""
    answer, hidden = typeset(line.value, alone=True), blank and line.formula
    parts = [line.formula, "" if hidden or line.numbers == answer else line.numbers]
    cells = [f"<span>= {_math(one)}</span>" for one in parts if one]
    if hidden:
        # an empty matrix shows the shape of the answer
        empty = np.full(np.shape(line.value), " ").tolist()
        answer = f'<span class="blank">{_math(typeset(empty))}</span>'
    cells.append(f'<span class="value">= {answer if hidden else _math(answer)}</span>')
    cells += [f"<small>{escape(line.remark)}</small>"] if line.remark and not hidden else []
    return f'<div class="row" id="row{number}" tabindex="0">{_math(line.symbol)}<div>{" ".join(cells)}</div></div>'


def _prose(text: str) -> str:
    """Return text as HTML, in which symbols such as h_t and h_{t-1} are typeset."""
    return _SYMBOL.sub(lambda found: _math(symbol(found[1], [found[2] or found[3]])), escape(text))


def _math(mathml: str) -> str:
    """Return a formula that may break before an operator that is in no brackets."""
    parts = [""]
    for one in ElementTree.fromstring(f"<math>{mathml}</math>"):
        parts += [""] if one.get("form") == "infix" else []
        parts[-1] += ElementTree.tostring(one, encoding="unicode")
    return "<wbr>".join(f'<math displaystyle="true">{one}</math>' for one in parts)


def _named(name: str) -> Any:
    """Return a function of the package: "kernels.cells.lstm:Lstm.forward"."""
    return resolve_name(f"anaphora.{name}")


def _kernel(name: str) -> tuple[str, str]:
    """Return the place and the source of a function."""
    (module, _, function), (code, number) = name.partition(":"), getsourcelines(_named(name))
    return f"src/anaphora/{module.replace('.', '/')}.py:{number}, {function}", "".join(code)
