"""Worked example: every value with its formula and numbers, as text and as a page."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from html import escape
from operator import add
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anaphora.formats.json_text import Jsonable
from anaphora.inspection.page import page, table
from anaphora.kernels.cells import Cell
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.truncation import Windows, scan_windows

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

    @property
    def answer(self) -> str:
        """Value as it is printed."""
        return format_value(self.value)

    def cells(self, blank: bool) -> tuple[str, str, str, str]:
        """Return the cells of a table in HTML; with ``blank``, without the answer."""
        answer = '<span class="blank">&nbsp;</span>' if blank else escape(self.answer)
        return f"<i>{escape(self.symbol)}</i>", escape(self.formula), "" if blank else escape(self.numbers), answer


@dataclass(frozen=True)
class Term:
    """Number or vector with the equation that it comes from; operators extend the equation."""

    value: Any
    """A float, or an array of them."""
    formula: str
    numbers: str
    """The formula with its numbers."""
    rank: int = 2
    """0 for a sum, 1 for a product, 2 for what never needs brackets."""

    def __getitem__(self, place: int) -> "Term":
        return as_term(f"{self.formula}_{place}", self.value[place - 1])

    def __add__(self, other: "Term") -> "Term":
        return self._joined(other, " + ", " + ", self.value + other.value, 0)

    def __sub__(self, other: "Term") -> "Term":
        return self._joined(other.enclosed(1), " - ", " - ", self.value - other.value, 0)

    def __rsub__(self, other: float) -> "Term":
        return number(other) - self

    def __mul__(self, other: "Term") -> "Term":
        return self.enclosed(1)._joined(other.enclosed(1), " ", " x ", self.value * other.value, 1)

    def __rmul__(self, other: float) -> "Term":
        return number(other) * self

    def __truediv__(self, other: "Term | float") -> "Term":
        divisor = other if isinstance(other, Term) else number(other)
        return self.enclosed(1)._joined(divisor.enclosed(2), " / ", " / ", self.value / divisor.value, 1)

    def __pow__(self, power: int) -> "Term":
        base = self.enclosed(2)
        return Term(self.value**power, f"{base.formula}^{power}", f"{base.numbers}^{power}")

    def __matmul__(self, other: "Term") -> "Term":
        """Return the product of two vectors."""
        products = " + ".join(f"{n(a)} x {n(b)}" for a, b in zip(self.value, other.value, strict=True))
        return Term(dot(self.value, other.value), f"{self.formula} {other.formula}", products, 0)

    def enclosed(self, rank: int) -> "Term":
        """Return it in brackets if its rank is lower."""
        return self if self.rank >= rank else self.in_brackets()

    def in_brackets(self) -> "Term":
        return Term(self.value, f"({self.formula})", f"({self.numbers})")

    def _joined(self, other: "Term", sign: str, numeric: str, value: Any, rank: int) -> "Term":
        formula, numbers = (f"{self.formula}{sign}{other.formula}", f"{self.numbers}{numeric}{other.numbers}")
        return Term(value, formula, numbers, rank)


@dataclass
class Section:
    """Values that belong together, in the order in which they are worked out."""

    title: str
    text: str = ""
    lines: list[Line] = field(default_factory=list)

    def given(self, **values: Value) -> list[Term]:
        """Add values that the example starts from, and return them."""
        self.lines += [Line(symbol, "", "", value) for symbol, value in values.items()]
        return [as_term(symbol, value) for symbol, value in values.items()]

    def row(self, symbol: str, term: Term, formula: str = "", numbers: str | None = None) -> Term:
        """Add a value that is worked out, and return it under its symbol; a ``formula`` in words replaces its own."""
        vector = isinstance(term.value, np.ndarray)
        value = tuple(term.value.tolist()) if vector else float(term.value)
        own = "" if vector else term.numbers
        self.lines.append(Line(symbol, formula or term.formula, own if numbers is None else numbers, value))
        return as_term(symbol, term.value)

    def words(self, symbol: str, formula: str, value: str, numbers: str = "") -> None:
        """Add text that is worked out."""
        self.lines.append(Line(symbol, formula, numbers, value))


@dataclass(frozen=True)
class Lesson(Jsonable):
    """Worked example."""

    title: str
    source: str
    """Source of the equations, and perhaps of the numbers."""
    sections: tuple[Section, ...]
    difference: float
    """Greatest absolute difference from what the kernels compute."""

    def value(self, symbol: str) -> Value:
        """Return the value of a symbol; KeyError for one that is not in the lesson."""
        return {line.symbol: line.value for section in self.sections for line in section.lines}[symbol]

    def __str__(self) -> str:
        return self.text()

    def text(self, blank: bool = False) -> str:
        """Return the lesson for a terminal; with ``blank``, without the answers."""
        rows = [self.title, self.source]
        for section in self.sections:
            rows += ["", section.title, *([section.text] if section.text else [])]
            width = max((len(line.symbol) for line in section.lines), default=0)
            for line in section.lines:
                hidden = blank and line.formula
                parts = [line.formula, "" if hidden else line.numbers, "________" if hidden else line.answer]
                rows.append(f"  {line.symbol:<{width}} = {' = '.join(filter(None, parts))}")
        return "\n".join(rows if blank else [*rows, "", self._checked])

    def html(self, blank: bool = False) -> str:
        """Return the lesson as one page that needs nothing else; with ``blank``, without the answers."""
        body = [f"<p>{escape(self.source)}</p>"]
        for section in self.sections:
            rows = [line.cells(blank and bool(line.formula)) for line in section.lines]
            text = [f"<p>{escape(section.text)}</p>"] if section.text else []
            body += [f"<h2>{escape(section.title)}</h2>", *text, table(_HEADING, rows, ("", "", "", "value"))]
        return page(self.title, *body, *([] if blank else [f"<p>{escape(self._checked)}</p>"]))

    @property
    def _checked(self) -> str:
        return f"The kernels of this package give the same numbers within {self.difference:.1e}."


def as_term(symbol: str, value: Any) -> Term:
    """Return a value, or several numbers as a vector, under a symbol."""
    value = np.array(value) if isinstance(value, list | tuple) else value
    return Term(value, symbol, "" if isinstance(value, np.ndarray) else n(value))


def number(value: float) -> Term:
    """Return a number that stands in equations as it is."""
    return as_term(n(value), value)


def total(terms: Sequence[Term]) -> Term:
    """Return the sum of terms."""
    return reduce(add, terms)


def _function(name: str, compute: Callable[[float], float], term: Term) -> Term:
    return Term(compute(term.value), f"{name}({term.formula})", f"{name}({term.numbers})")


tanh = partial(_function, "tanh", math.tanh)
sigm = partial(_function, "sigm", lambda a: 1 / (1 + math.exp(-a)))


def softmax(scores: Term) -> Term:
    """Return the probabilities of a vector of scores."""
    shares = [math.exp(one) for one in scores.value]
    return as_term(f"softmax({scores.formula})", [one / sum(shares) for one in shares])


def format_value(value: Value) -> str:
    """Return a value as it is printed: five digits after the point."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"[{', '.join(map(format_value, value))}]"
    text = f"{value + 0.0:.5f}"  # no negative zero
    return text.rstrip("0").rstrip(".") if value == round(value, 5) else text


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


def difference(ours: Sequence[Term], theirs: Sequence[Tensor]) -> float:
    """Return the greatest absolute difference of the numbers in two lists."""
    mine = np.concatenate([np.ravel(term.value) for term in ours])
    return float(np.abs(mine - torch.cat([one.detach().flatten() for one in theirs]).numpy()).max())
