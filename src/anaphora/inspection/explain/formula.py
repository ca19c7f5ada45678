"""Formulas of lessons: Python expressions over known values, worked out and typeset in MathML.

An expression is evaluated over operands that write down the operations that they take part in. Lessons are files of
this package; formulas of other people are never evaluated.
"""

import ast
import math
import operator
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, partialmethod
from html import escape
from itertools import count, takewhile
from timeit import repeat
from types import GeneratorType
from typing import Any
from xml.etree import ElementTree

import numpy as np

from anaphora.errors import ConfigError
from anaphora.kernels.compiled.gemm import gemm, pack_rows

_ADD, _TIMES, _FRACTION, _ATOM = range(4)
"""How strongly a term binds."""
_PLUS, _MINUS, _X, _DOT, _CIRCLE = (f'<mo form="infix">{sign}</mo>' for sign in "+\u2212\u00d7\u00b7\u2299")
_SIGN, _SPACE = '<mo form="prefix">\u2212</mo>', "<mo>\u2062</mo>"
_ZERO, _ONE = "<mn>0</mn>", "<mn>1</mn>"
_ACCENTS = {"hat": "^", "tilde": "~", "bar": "\u00af"}
_PLAIN = {"\u2062": " ", "\u00d7": "x", "\u2212": "-", ",": ", "}


class Operand:
    """Value in an expression, with the operators of Python."""

    @property
    def term(self) -> "Term":
        """The value with its formula."""
        raise NotImplementedError

    @property
    def T(self) -> "Term":
        """The transposed matrix."""
        turned = self.term.value.T
        return Term(turned, _sup(_bracketed(self.term, _ATOM).formula, "<mi>T</mi>"), typeset(turned))

    def __neg__(self) -> "Term":
        inner = _bracketed(self.term, _TIMES)
        return Term(-inner.value, f"{_SIGN}{inner.formula}", f"{_SIGN}{inner.numbers}", _ADD)

    def __index__(self) -> int:
        return int(self.term.value)


@dataclass(frozen=True, eq=False)
class Term(Operand):
    """Part of a formula, worked out."""

    value: Any
    formula: str
    """In MathML."""
    numbers: str
    """The same with numbers in place of symbols."""
    binds: int = _ATOM

    @property
    def term(self) -> "Term":
        return self


@dataclass(frozen=True, eq=False)
class Symbol(Operand):
    """Symbol, which need not have a value: "h", "h[1]"."""

    name: str
    values: Mapping[str, Any]
    reads: dict[str, None]
    """Symbols whose values were looked up."""
    places: tuple[Any, ...] = ()

    def __getitem__(self, places: Any) -> "Symbol":
        inner = [_term(one).value for one in (places if isinstance(places, tuple) else (places,))]
        return Symbol(self.name, self.values, self.reads, (*self.places, *inner))

    @property
    def mathml(self) -> str:
        return symbol(self.name, self.places)

    def key(self, known: int | None = None) -> str:
        """Return the symbol in plain letters, with its first ``known`` places."""
        places = self.places[:known]
        return f"{self.name}[{','.join(map(str, places))}]" if places else self.name

    @property
    def term(self) -> Term:
        """Its value, an element of a vector, or all its steps from 1 on; ConfigError where there is none."""
        known = next((n for n in range(len(self.places), -1, -1) if self.key(n) in self.values), None)
        steps = [*takewhile(self.values.__contains__, (f"{self.name}[{step}]" for step in count(1)))]
        self.reads.update(dict.fromkeys([self.key(), *([self.key(known)] if known is not None else steps)]))
        if known is not None:
            value = self.values[self.key(known)]
            for place in self.places[known:]:
                if place not in range(1, len(value) + 1):
                    raise ConfigError(f"{self.key(known)} has no element {place}: it has {len(value)}, counted from 1.")
                value = value[place - 1]
        elif steps and not self.places:
            value = np.array([self.values[step] for step in steps])
        else:
            raise ConfigError(f"{self.key()} has no value: a symbol of a lesson is given, or a row before.")
        return Term(value, self.mathml, typeset(value))


class Formulas:
    """Formulas over ``values``, by symbol: "W_xh", "h[1]"."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.reads = dict[str, None]()
        """Symbols that formulas read, in their order."""

    def loops(self, text: str, outer: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the numbers of "t in steps(1, 4) for s in steps(t, 1)", one after another, with ``outer`` ones."""
        if not text:
            return [{**outer}]
        found: Any = ast.parse(f"[0 for {text}]", mode="eval").body
        names = [ast.unparse(one.target) for one in found.generators]
        rows = self._evaluate(f"[({', '.join(names)},) for {text}]", outer)
        return [{**outer, **dict(zip(names, row, strict=True))} for row in rows]

    def work_out(self, text: str, numbers: Mapping[str, Any]) -> Term:
        """Return an expression, worked out; ``numbers`` are those of its loops. ConfigError for an unknown symbol."""
        return _term(self._evaluate(text, numbers))

    def symbol(self, text: str, numbers: Mapping[str, Any]) -> Symbol:
        """Return the symbol that a text names."""
        found: Symbol = self._evaluate(text, numbers)
        return found

    def _evaluate(self, text: str, numbers: Mapping[str, Any]) -> Any:
        functions = {name: partial(_call, name) for name in FUNCTIONS}
        return eval(text.strip(), _Names(self, {"steps": steps, **functions, **numbers}))


class _Names(dict[str, Any]):
    """Names of an expression: all that are no functions are symbols."""

    def __init__(self, formulas: Formulas, known: Mapping[str, Any]) -> None:
        super().__init__(known)
        self._formulas = formulas

    def __missing__(self, name: str) -> Symbol:
        return Symbol(name, self._formulas.values, self._formulas.reads)


def steps(first: int, last: int) -> range:
    """Return numbers up or down, both ends included."""
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def _softmax(scores: Any) -> Any:
    shares = np.exp(scores)
    return shares / shares.sum()


def _seconds(n: int, rows: int, together: int) -> float:
    """Return the time of W h for so many h of n numbers, some of them together: the least of five, measured now."""
    w, h_RN = pack_rows(np.ones((n, n))), np.ones((together, n))
    return min(repeat(lambda: gemm(h_RN, w), number=rows // together, repeat=5))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "argmax": lambda vector: int(np.argmax(vector)) + 1,
    "concat": lambda *vectors: np.concatenate(vectors),
    "exp": np.exp,
    "ln": np.log,
    "max": lambda *values: np.max(values),
    "min": lambda *values: np.min(values),
    "norm": np.linalg.norm,
    "onehot": lambda place, size: np.eye(size)[place - 1],
    "outer": np.outer,
    "prod": lambda *values: math.prod(values),
    "relu": lambda a: np.maximum(a, 0),
    "seconds": _seconds,
    "sigm": lambda a: 1 / (1 + np.exp(-a)),
    "softmax": _softmax,
    "sort": lambda vector: -np.sort(-vector),
    "sqrt": np.sqrt,
    "sum": lambda *values: np.sum(values, axis=0) if len(values) != 1 else np.sum(values[0]),
    "tanh": np.tanh,
}
"""Functions of formulas; places count from 1."""


def _term(value: Any) -> Term:
    """Return an operand, a number or a list of them as a term."""
    if isinstance(value, Operand):
        return value.term
    if isinstance(value, list):
        terms = [*map(_term, value)]
        return Term(np.array([one.value for one in terms]), *(_table(zip(one)) for one in _columns(terms)))
    return Term(value, typeset(value), typeset(value))


def _joined(name: str, one: Any, other: Any) -> Term:
    """Return two terms joined by an operator of Python."""
    left, right = _term(one), _term(other)
    value = getattr(operator, name)(left.value, right.value)
    vectors = np.ndim(left.value) and np.ndim(right.value)
    match name:
        case "add" if _ZERO in (left.formula, right.formula):
            return left if right.formula == _ZERO else right
        case "pow" if right.formula == _ONE:
            return left
        case "mul" if left.formula == _ONE:
            return right
        case "add" | "sub":
            mark = _PLUS if name == "add" else _MINUS
            pairs = _pairs(left, _bracketed(right, _ADD if name == "add" else _TIMES))
            return Term(value, *(f"{a}{mark}{b}" for a, b in pairs), _ADD)
        case "truediv":
            pairs = _pairs(left, right)
            return Term(value, *(f"<mfrac>{_row(a)}{_row(b)}</mfrac>" for a, b in pairs), _FRACTION)
        case "pow" if right.formula == _ZERO:
            return _term(1)
        case "pow":
            return Term(value, *(_sup(a, b) for a, b in _pairs(_bracketed(left, _ATOM), right)))
        case "matmul" if np.ndim(left.value) == np.ndim(right.value) == 1:
            products = zip(left.value, right.value, strict=True)
            numbers = _PLUS.join(f"{typeset(a)}{_X}{typeset(b)}" for a, b in products)
            return Term(value, _DOT.join(_pairs(_bracketed(left, _TIMES), _bracketed(right, _TIMES))[0]), numbers, _ADD)
    mark = _CIRCLE if vectors and name == "mul" else _SPACE
    formula, numbers = _pairs(_bracketed(left, _TIMES), _bracketed(right, _TIMES))
    return Term(value, mark.join(formula), (mark if vectors else _X).join(numbers), _TIMES)


def _compared(name: str, one: Any, other: Any) -> bool:
    return bool(getattr(operator, name)(_term(one).value, _term(other).value))


for _name in ("add", "sub", "mul", "matmul", "truediv", "pow", "floordiv", "mod"):
    setattr(Operand, f"__{_name}__", partialmethod(lambda self, other, name: _joined(name, self, other), name=_name))
    setattr(Operand, f"__r{_name}__", partialmethod(lambda self, other, name: _joined(name, other, self), name=_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Operand, f"__{_name}__", partialmethod(lambda self, other, name: _compared(name, self, other), name=_name))


def _call(name: str, *arguments: Any) -> Term:
    """Return a function of terms."""
    listed = arguments[0] if isinstance(arguments[0], GeneratorType) else arguments
    terms = [*map(_term, listed)]
    value = FUNCTIONS[name](*(one.value for one in terms))
    match name:
        case "sum" | "prod" if listed is not arguments:
            binds, marks = (_ADD, (_PLUS, _PLUS)) if name == "sum" else (_TIMES, (_SPACE, _X))
            columns = _columns([_bracketed(one, binds) for one in terms])
            shown = (mark.join(one) or _ZERO for mark, one in zip(marks, columns, strict=True))
            return terms[0] if len(terms) == 1 else Term(value, *shown, binds)
        case "outer":
            left, right = (_bracketed(one, _TIMES) for one in terms)
            turned = _sup(_bracketed(terms[1], _ATOM).formula, "<mi>T</mi>")
            numbers = f"{left.numbers}{_SPACE}{typeset(np.atleast_2d(right.value))}"
            return Term(value, f"{left.formula}{_SPACE}{turned}", numbers, _TIMES)
        case "onehot":
            return Term(value, f"<msub><mn>1</mn>{_row(terms[0].formula)}</msub>", typeset(value))
        case "sqrt":
            return Term(value, *(f"<msqrt>{one}</msqrt>" for [one] in _columns(terms)))
        case "norm" | "abs":
            bar = "<mo>|</mo>" if name == "abs" else "<mo>\u2016</mo>"
            return Term(value, *(f"<mrow>{bar}{one}{bar}</mrow>" for [one] in _columns(terms)))
    return Term(value, *_applied(name, terms))


def _applied(name: str, terms: Sequence[Term]) -> Iterator[str]:
    """Yield a function of its arguments, with symbols and with numbers."""
    numbers = [typeset(one.value, True) if one.numbers == typeset(one.value) else one.numbers for one in terms]
    for parts in ([one.formula for one in terms], numbers):
        yield f"<mi>{name}</mi>{_brackets('<mo>,</mo>'.join(parts))}"


def _columns(terms: Sequence[Term]) -> tuple[list[str], list[str]]:
    return [one.formula for one in terms], [one.numbers for one in terms]


def _pairs(left: Term, right: Term) -> tuple[tuple[str, str], tuple[str, str]]:
    return (left.formula, right.formula), (left.numbers, right.numbers)


def _bracketed(term: Term, least: int) -> Term:
    """Return a term in brackets if it binds less strongly."""
    if term.binds >= least:
        return term
    return Term(term.value, _brackets(term.formula), _brackets(term.numbers))


def _brackets(inner: str) -> str:
    return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"


def _row(inner: str) -> str:
    return f"<mrow>{inner}</mrow>"


def _sup(base: str, power: str) -> str:
    return f"<msup>{_row(base)}{_row(power)}</msup>"


def _table(rows: Iterable[Sequence[str]]) -> str:
    inner = "".join(f"<mtr>{''.join(f'<mtd>{one}</mtd>' for one in row)}</mtr>" for row in rows)
    return f"<mtable>{inner}</mtable>"


def symbol(name: str, places: Sequence[Any] = ()) -> str:
    """Return the MathML of a symbol: "dW_xh" with its subscript, and with its steps after it."""
    head, _, below = name.partition("_")
    rest = head[1:] if head[0] == "d" and (len(head) == 2 or _letter(head[1:]) != head[1:]) else head
    accent = next((one for one in _ACCENTS if rest.endswith(one) and rest != one), "")
    base = f"<mi>{_letter(rest.removesuffix(accent))}</mi>"
    base = f'<mover accent="true">{base}<mo>{_ACCENTS[accent]}</mo></mover>' if accent else base
    base = f'<mrow><mi mathvariant="normal">d</mi>{base}</mrow>' if rest != head else base
    marks = [*([f"<mi>{below}</mi>"] if below else []), *(_place_text(one) for one in places)]
    return f"<msub>{base}{_row('<mo>,</mo>'.join(marks))}</msub>" if marks else base


def _letter(name: str) -> str:
    try:
        return unicodedata.lookup(f"greek small letter {name}")
    except KeyError:
        return name


def _place_text(place: Any) -> str:
    return f"<mtext>{escape(place)}</mtext>" if isinstance(place, str) else f"<mn>{place}</mn>"


def typeset(value: Any, alone: bool = False) -> str:
    """Return a number, a vector as a column, a matrix, or a word in MathML.

    A negative number is in brackets unless it stands ``alone``.
    """
    if isinstance(value, str):
        return f"<mtext>{escape(value)}</mtext>"
    if np.ndim(value):
        return _table([typeset(one, True) for one in np.atleast_1d(row)] for row in value)
    if round(value, 5) >= 0:
        return f"<mn>{format_number(abs(value))}</mn>"
    number = f"{_SIGN}<mn>{format_number(-value)}</mn>"
    return number if alone else _brackets(number)


def format_number(value: float) -> str:
    """Return five digits after the point, fewer where these are all of it."""
    text = f"{value:.5f}"
    return text.rstrip("0").rstrip(".") if math.isclose(value, round(value, 5), abs_tol=1e-12) else text


def plain(mathml: str) -> str:
    """Return MathML as plain text: "h_1 = tanh(0.5 x 2)"."""
    return _plain(ElementTree.fromstring(f"<math>{mathml}</math>")).strip()


def _plain(element: ElementTree.Element) -> str:
    parts = [_plain(one) for one in element]
    if element.tag in ("mfrac", "msup"):
        # only operators stand unbracketed within a part
        marked = ["mo" in {inner.tag for inner in one} for one in element]
        parts = [f"({part})" if compound else part for part, compound in zip(parts, marked, strict=True)]
    match element.tag:
        case "msub":
            return "_".join(parts).replace(", ", ",")
        case "msup":
            return "^".join(parts)
        case "mover":
            return parts[0] + next(name for name, mark in _ACCENTS.items() if mark == parts[1])
        case "mfrac":
            return f"({' / '.join(parts)})"
        case "msqrt":
            return f"sqrt({''.join(parts)})"
        case "mtable":
            return f"[{', '.join(parts)}]"
        case "mtr":
            return f"[{', '.join(parts)}]" if len(parts) > 1 else parts[0]
        case "mo":
            text = _PLAIN.get(element.text or "", element.text or "")
            return f" {text} " if element.get("form") == "infix" else text
    return "".join(parts) or unicodedata.normalize("NFC", element.text or "")
