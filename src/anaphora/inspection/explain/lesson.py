"""Worked example: every value with its formula and numbers, as text and as a page."""

import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import pairwise
from operator import add, sub, truediv
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from anaphora.formats.html_table import table
from anaphora.inspection.page import page
from anaphora.kernels.cells import Cell
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.truncation import Windows, scan_windows

_TOKEN = re.compile(r"(?:tanh|sigm|softmax)?\(|\w+|[-+/^)]")
_HEADING = ("value", "formula", "with numbers", "answer")

Value = float | tuple[float, ...] | str


@dataclass(frozen=True)
class Line:
    """Value with its formula."""

    symbol: str
    """"h_1"."""
    formula: str
    """"a h_0 + b x_1 + c"; empty where the value is given."""
    numbers: str
    """The formula with its numbers."""
    value: Value


@dataclass
class Section:
    """Values that belong together, in the order in which they are worked out."""

    title: str
    text: str = ""
    lines: list[Line] = field(default_factory=list)


@dataclass
class Lesson:
    """Worked example: its values, worked out section by section from the formulas that it shows."""

    title: str
    source: str
    """Source of the equations, and perhaps of the numbers."""
    sections: list[Section] = field(default_factory=list)
    difference: float = 0.0
    """Greatest absolute difference from what the kernels compute."""
    values: dict[str, Any] = field(default_factory=dict, repr=False)
    """Floats, vectors and matrices by symbol; formulas may name all of them, also those without a line."""

    def section(self, title: str, text: str = "") -> None:
        """Begin a section."""
        self.sections.append(Section(title, text))

    def add_values(self, **values: Value) -> None:
        """Add values that the example starts from; numbers of a vector x are x_1, x_2, .."""
        for symbol, value in values.items():
            self._add(symbol, "", "", value)
            if isinstance(value, tuple):
                self.values |= {f"{symbol}_{place}": one for place, one in enumerate(value, 1)}

    def steps(self, formulas: Mapping[str, str], t: int) -> None:
        """Work out the formulas of step ``t``, by symbol; "h_t" and "h_{t-1}" stand for its own and the one before."""
        for row in formulas.items():
            self.row(*(re.sub(r"(?<=[_,])t\b", f"{t}", one.replace("{t-1}", f"{t - 1}")) for one in row))

    def row(self, symbol: str, formula: str, value: Any = None, *, words: str = "", numbers: str | None = None) -> None:
        """Add a line, worked out from its formula where no ``value`` is given; ``words`` are shown in place of it."""
        own = ""
        if value is None:
            value, own = Formula(formula, self.values).result()
        if isinstance(value, np.ndarray):
            value, own = tuple(value.tolist()), ""
        self._add(symbol, words or formula, own if numbers is None else numbers, value)

    def _add(self, symbol: str, formula: str, numbers: str, value: Value) -> None:
        self.sections[-1].lines.append(Line(symbol, formula, numbers, value))
        self.values[symbol] = np.array(value) if isinstance(value, tuple) else value

    def check(self, symbols: Sequence[str], theirs: Sequence[Tensor]) -> "Lesson":
        """Return the lesson, compared with the numbers of some ``symbols`` by the kernels."""
        ours = np.concatenate([np.ravel(self.values[symbol]) for symbol in symbols])
        self.difference = float(np.abs(ours - torch.cat([one.detach().flatten() for one in theirs]).numpy()).max())
        return self

    def json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "values"}

    def __str__(self) -> str:
        return self.text()

    def text(self, blank: bool = False) -> str:
        """Return the lesson for a terminal; with ``blank``, without the answers."""
        rows = [self.title, self.source]
        for section in self.sections:
            rows += ["", section.title, *([section.text] if section.text else [])]
            width = max((len(line.symbol) for line in section.lines), default=0)
            for line in section.lines:
                parts = filter(None, _cells(line, blank, "________"))
                rows.append(f"  {line.symbol:<{width}} = {' = '.join(parts)}")
        return "\n".join(rows if blank else [*rows, "", self._checked])

    def html(self, blank: bool = False) -> str:
        """Return the lesson as one page that needs nothing else; with ``blank``, without the answers."""
        body = [f"<p>{escape(self.source)}</p>"]
        for section in self.sections:
            text = [f"<p>{escape(section.text)}</p>"] if section.text else []
            rows = [
                (f"<i>{escape(line.symbol)}</i>", *_cells(line, blank, '<span class="blank">&nbsp;</span>', escape))
                for line in section.lines
            ]
            body += [f"<h2>{escape(section.title)}</h2>", *text, table(_HEADING, rows, ("", "", "", "value"))]
        return page(self.title, *body, *([] if blank else [f"<p>{escape(self._checked)}</p>"]))

    @property
    def _checked(self) -> str:
        return f"The kernels of this package give the same numbers within {self.difference:.1e}."


def _cells(line: Line, blank: bool, gap: str, escape: Callable[[str], str] = str) -> tuple[str, str, str]:
    """Return formula, numbers and answer; with ``blank``, a gap in place of what is worked out."""
    if blank and line.formula:
        return escape(line.formula), "", gap
    return escape(line.formula), escape(line.numbers), escape(format_value(line.value))


class Formula:
    """Formula over known values: sums, products by juxtaposition, quotients, powers and functions.

    ValueError for a name that has no value.
    """

    def __init__(self, formula: str, values: Mapping[str, Any]) -> None:
        self._values, self._tokens = values, deque[str]()
        for before, token in pairwise(["(", *_tokens_of(formula, values)]):
            if not (before.endswith("(") or before in _SIGNS or token in _SIGNS or token == ")"):
                self._tokens.append("*")
            self._tokens.append(token)
        self._tokens.append("")

    def result(self, level: int = 0) -> tuple[Any, str]:
        """Return the value, and the formula with its numbers."""
        if level == len(_LEVELS):
            return self._operand()
        value, numbers = self.result(level + 1)
        while self._tokens[0] in _LEVELS[level]:
            sign = self._tokens.popleft()
            other, its_numbers = self.result(level + 1)
            if np.ndim(value) == np.ndim(other) == 1 and sign == "*":
                numbers = " + ".join(f"{n(a)} x {n(b)}" for a, b in zip(value, other, strict=True))
            else:
                numbers += {"*": " x ", "^": "^"}.get(sign, f" {sign} ") + its_numbers
            value = _SIGNS[sign](value, other)
        return value, numbers

    def _operand(self) -> tuple[Any, str]:
        token = self._tokens.popleft()
        if not token.endswith("("):
            value = self._values[token] if token in self._values else float(token)
            return value, n(value) if np.ndim(value) == 0 else ""
        value, numbers = self.result()
        self._tokens.popleft()
        return _FUNCTIONS[token[:-1]](value), f"{token}{numbers})"


def _tokens_of(formula: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Yield names of values, the longest that fit, and between them functions, numbers, signs and brackets."""
    names = sorted(values, key=len, reverse=True)
    while formula := formula.lstrip():
        known = (one for one in names if formula.startswith(one) and not re.match(r"\w", formula[len(one) :]))
        found = _TOKEN.match(formula)
        token = next(known, found[0] if found else formula)
        yield token
        formula = formula[len(token) :]


def times(a: Any, b: Any) -> Any:
    """Return the product of numbers, of a number and a vector, of two vectors, or of a matrix and a vector."""
    if np.ndim(a) == 2:
        return np.array([dot(row, b) for row in a])
    return dot(a, b) if np.ndim(a) == np.ndim(b) == 1 else a * b


def tanh(a: Any) -> Any:
    """Return the hyperbolic tangent of a number, or of each number of a vector."""
    return np.array([math.tanh(one) for one in a]) if np.ndim(a) else math.tanh(a)


def softmax(scores: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return the probabilities of a vector of scores."""
    shares = [math.exp(one) for one in scores]
    return np.array([one / sum(shares) for one in shares])


_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "": lambda a: a,
    "tanh": tanh,
    "sigm": lambda a: 1 / (1 + math.exp(-a)),
    "softmax": softmax,
}
_SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": times, "/": truediv, "^": pow}
_LEVELS = (("+", "-"), ("*", "/"), ("^",))
"""Signs by how strongly they bind."""


def format_value(value: Value) -> str:
    """Return a value as it is printed: five digits after the point, fewer where these are all of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"[{', '.join(map(format_value, value))}]"
    text = f"{round(value, 5) + 0.0:.5f}"  # no negative zero
    return text.rstrip("0").rstrip(".") if math.isclose(value, round(value, 5), abs_tol=1e-12) else text


def n(value: float) -> str:
    """Return a number as it stands within a formula, a negative one in brackets."""
    return format_value(value) if value >= 0 else f"({format_value(value)})"


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the sum of products."""
    return sum(float(a) * float(b) for a, b in zip(left, right, strict=True))


def leaf(values: Any) -> Tensor:
    """Return numbers as a tensor in float64 that has gradients."""
    return torch.tensor(values, dtype=torch.float64).requires_grad_()


def scan_unit(
    cell: Cell, x: Sequence[Any], weights: Sequence[Tensor], first: Mapping[str, Tensor], back: int | None = None
) -> Windows:
    """Run a unit by the kernels, with the weight of its inputs, their bias and the recurrent weight.

    Each loss goes ``back`` so many steps; None for all of them.
    """
    states = tuple(f"unit.{field}" for field in cell.state)
    program = Program((Project("in", "x", "a", True), Unit("unit", cell, ("a",))), states)
    tensors = dict(zip(("in.weight", "in.bias", "unit.h"), weights, strict=True))
    x_TBD = torch.tensor(x, dtype=torch.float64).reshape(len(x), 1, -1)
    given = {f"unit.{name}": value for name, value in first.items()}
    return scan_windows(
        program, {"x": x_TBD}, given, tensors, {}, torch.tensor([len(x)]), len(x) if back is None else back
    )
