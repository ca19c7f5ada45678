"""Formulas of lessons: Python expressions over known values, worked out and typeset in MathML.

An expression is read as Python's syntax, never run by Python, and worked out over operands that write down the
operations that they take part in.
"""

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
"""Strength with which a term binds."""
_PLUS, _MINUS, _X, _DOT, _CIRCLE = (f'<mo form="infix">{sign}</mo>' for sign in "+\u2212\u00d7\u00b7\u2299")
_SIGN, _SPACE, _T = '<mo form="prefix">\u2212</mo>', "<mo>\u2062</mo>", "<mi>T</mi>"
_ZERO, _ONE = "<mn>0</mn>", "<mn>1</mn>"
_ACCENTS = {"hat": "^", "tilde": "~", "bar": "\u00af"}
_EITHER = re.compile("\1([^\1\2\3]*)\2([^\1\2\3]*)\3")
"""MathML that differs between the formula with symbols and that with numbers."""


def _either(symbols: str, numbers: str) -> str:
    return f"\1{symbols}\2{numbers}\3"


class Operand:
    """Value in an expression, with the operators of Python."""

    @property
    def T(self) -> "Term":
        """The transposed matrix."""
        term = term_of(self)
        return Term(term.value.T, _either(_sup(_bracketed(term, _ATOM), _T), typeset(term.value.T)))

    def __neg__(self) -> "Term":
        term = term_of(self)
        return Term(-term.value, f"{_SIGN}{_bracketed(term, _TIMES)}", _ADD)


@dataclass(frozen=True, eq=False)
class Term(Operand):
    """Part of a formula, worked out."""

    value: Any
    shown: str
    """Formula in MathML, with symbols and with numbers."""
    binds: int = _ATOM

    def mathml(self, numbers: bool = False) -> str:
        """Return the formula with its symbols, or with ``numbers`` in their place."""
        shown = self.shown
        while "\1" in shown:
            shown = _EITHER.sub(rf"\g<{1 + numbers}>", shown)
        return shown


@dataclass(frozen=True, eq=False)
class Symbol(Operand):
    """Symbol, which need not have a value: "h", "h[1]"."""

    name: str
    formulas: "Formulas"
    places: tuple[Any, ...] = ()

    def __getitem__(self, places: Any) -> "Symbol":
        inner = [term_of(one).value for one in (places if isinstance(places, tuple) else (places,))]
        return Symbol(self.name, self.formulas, (*self.places, *inner))

    def key(self, known: int | None = None) -> str:
        """Return the symbol in plain letters, with its first ``known`` places."""
        places = self.places[:known]
        return f"{self.name}[{','.join(map(str, places))}]" if places else self.name

    def value(self) -> Any:
        """Return its value, an element of a vector, or all its steps from 1 on; ConfigError where there is none."""
        values, reads = self.formulas.values, self.formulas.reads
        known = next((n for n in range(len(self.places), -1, -1) if self.key(n) in values), None)
        if known is None:
            steps = [*takewhile(values.__contains__, (f"{self.name}[{step}]" for step in count(1)))]
            if self.places or not steps:
                raise ConfigError(f"{self.key()} has no value: a symbol of a lesson is given, or a row before.")
            reads |= dict.fromkeys(steps)
            return np.array([values[step] for step in steps])
        value = values[self.key(known)]
        reads |= dict.fromkeys([self.key(), self.key(known)])
        for place in self.places[known:]:
            if place not in range(1, len(value) + 1):
                raise ConfigError(f"{self.key(known)} has no element {place}: it has {len(value)}, counted from 1.")
            value = value[place - 1]
        return value


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
        return [dict(one) for one in self._turns(found.generators, outer)]

    def evaluate(self, text: str, numbers: Mapping[str, Any]) -> Any:
        """Return an operand, a number or a list of them; ``numbers`` are those of the loops around it."""
        return self._value(ast.parse(text.strip(), mode="eval").body, numbers)

    def _value(self, node: ast.expr, names: Mapping[str, Any]) -> Any:
        """Return what an expression stands for; ``names`` are the variables of loops."""

        def value(one: ast.expr) -> Any:
            return self._value(one, names)

        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return names[node.id] if node.id in names else Symbol(node.id, self)
            case ast.List():
                return [*map(value, node.elts)]
            case ast.Tuple():
                return (*map(value, node.elts),)
            case ast.Attribute(attr="T"):
                return value(node.value).T
            case ast.Subscript():
                return value(node.value)[value(node.slice)]
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](value(node.left), value(node.right))
            case ast.Compare(ops=[op], comparators=[right]) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](value(node.left), value(right))
            case ast.IfExp():
                return value(node.body if value(node.test) else node.orelse)
            case ast.GeneratorExp():
                return (self._value(node.elt, one) for one in self._turns(node.generators, names))
            case ast.Call(func=ast.Name(id="steps")):
                return steps(*map(value, node.args))
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                return _call(name, *map(value, node.args))
        raise ConfigError(f"{ast.unparse(node)} is no part of a formula.")

    def _turns(self, loops: Sequence[ast.comprehension], names: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the variables of each turn of loops, the first outermost."""
        if not loops:
            yield names
            return
        loop, *inner = loops
        for one in self._value(loop.iter, names):
            own = {**names, ast.unparse(loop.target): one}
            if all(self._value(test, own) for test in loop.ifs):
                yield from self._turns(inner, own)


_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.MatMult: operator.matmul},
    **{ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}
"""Signs of formulas, and comparisons of loop variables."""


def steps(first: int, last: int) -> range:
    """Return numbers up or down, both ends included."""
    return range(first, last + 1) if first <= last else range(first, last - 1, -1)


def _milliseconds(n: int, rows: int, together: int) -> float:
    """Return the time of W h for so many h of n numbers, some of them together: the least of five, measured now."""
    w, h_RN = pack_rows(np.ones((n, n))), np.ones((together, n))
    return 1000 * min(repeat(lambda: gemm(h_RN, w), number=rows // together, repeat=5))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "outer", "sqrt", "tanh")},
    "argmax": lambda vector: int(np.argmax(vector)) + 1,
    "ln": np.log,
    "max": lambda *values: np.max(values),
    "milliseconds": _milliseconds,
    "min": lambda *values: np.min(values),
    "norm": np.linalg.norm,
    "onehot": lambda place, size: np.eye(size)[place - 1],
    "prod": lambda *values: math.prod(values),
    "sigm": lambda a: 1 / (1 + np.exp(-a)),
    "softmax": lambda scores: np.exp(scores) / np.exp(scores).sum(),
    "sort": lambda vector: -np.sort(-vector),
    "sum": lambda *values: sum(values) if len(values) != 1 else np.sum(values[0]),
}
"""Functions of formulas; places count from 1."""


def term_of(found: Any) -> Term:
    """Return an operand, a number or a list of them as a term; ConfigError for a symbol without a value."""
    match found:
        case Term():
            return found
        case Symbol():
            value = found.value()
            return Term(value, _either(symbol(found.name, found.places), typeset(value)))
        case list():
            terms = [*map(term_of, found)]
            return Term(np.array([one.value for one in terms]), _table([one.shown] for one in terms))
    return Term(found, typeset(found))


def _joined(name: str, one: Any, other: Any) -> Term:
    """Return two terms joined by an operator of Python."""
    left, right = term_of(one), term_of(other)
    value, sizes = getattr(operator, name)(left.value, right.value), {np.ndim(left.value), np.ndim(right.value)}
    a, b = _bracketed(left, _TIMES), _bracketed(right, _TIMES)
    match name:
        case "add" | "pow" if right.shown == (_ZERO if name == "add" else _ONE):
            return left
        case "add" | "mul" if left.shown == (_ZERO if name == "add" else _ONE):
            return right
        case "add":
            return Term(value, f"{left.shown}{_PLUS}{right.shown}", _ADD)
        case "sub":
            return Term(value, f"{left.shown}{_MINUS}{b}", _ADD)
        case "truediv":
            return Term(value, f"<mfrac>{_row(left.shown)}{_row(right.shown)}</mfrac>", _FRACTION)
        case "pow":
            return term_of(1) if right.shown == _ZERO else Term(value, _sup(_bracketed(left, _ATOM), right.shown))
        case "matmul" if sizes == {1}:
            products = (f"{typeset(x)}{_X}{typeset(y)}" for x, y in zip(left.value, right.value, strict=True))
            return Term(value, _either(f"{a}{_DOT}{b}", _PLUS.join(products)), _ADD)
    mark = _either(_SPACE, _X) if 0 in sizes else _CIRCLE if name == "mul" else _SPACE
    return Term(value, f"{a}{mark}{b}", _TIMES)


def _compared(name: str, one: Any, other: Any) -> bool:
    return bool(getattr(operator, name)(term_of(one).value, term_of(other).value))


for _name in ("add", "sub", "mul", "matmul", "truediv", "pow", "floordiv"):
    setattr(Operand, f"__{_name}__", lambda one, other, name=_name: _joined(name, one, other))
    setattr(Operand, f"__r{_name}__", lambda one, other, name=_name: _joined(name, other, one))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Operand, f"__{_name}__", lambda one, other, name=_name: _compared(name, one, other))


def _call(name: str, *arguments: Any) -> Term:
    """Return a function of terms."""
    listed = isinstance(arguments[0], GeneratorType)
    terms = [*map(term_of, arguments[0] if listed else arguments)]
    value = FUNCTIONS[name](*(one.value for one in terms))
    match name, terms:
        case "sum" | "prod", [] | [_] if listed:
            return terms[0] if terms else term_of(value)
        case "sum", _ if listed:
            return Term(value, _PLUS.join(one.shown for one in terms), _ADD)
        case "prod", _ if listed:
            return Term(value, _either(_SPACE, _X).join(_bracketed(one, _TIMES) for one in terms), _TIMES)
        case "outer", [left, right]:
            turned = _either(_sup(_bracketed(right, _ATOM), _T), typeset(np.atleast_2d(right.value)))
            return Term(value, f"{_bracketed(left, _TIMES)}{_SPACE}{turned}", _TIMES)
        case "onehot", [place, _]:
            return Term(value, _either(f"<msub>{_ONE}{_row(place.shown)}</msub>", typeset(value)))
        case "sqrt", [inner]:
            return Term(value, f"<msqrt>{_row(inner.shown)}</msqrt>")
        case "norm", [inner]:
            return Term(value, _row(f"<mo>\u2016</mo>{inner.shown}<mo>\u2016</mo>"))
    # a negative number alone needs no brackets of its own
    parts = (one.shown.replace(f"\2{typeset(one.value)}\3", f"\2{typeset(one.value, True)}\3") for one in terms)
    found = Term(value, f"<mi>{name}</mi>{_brackets('<mo>,</mo>'.join(parts))}")
    return Term(value, _either(found.mathml(), typeset(value))) if name == "milliseconds" else found


def _bracketed(term: Term, least: int) -> str:
    """Return a term in MathML, in brackets if it binds less strongly."""
    return term.shown if term.binds >= least else _brackets(term.shown)


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
    marks = [*([f"<mi>{below}</mi>"] if below else []), *map(typeset, places)]
    return f"<msub>{base}{_row('<mo>,</mo>'.join(marks))}</msub>" if marks else base


def _letter(name: str) -> str:
    try:
        return unicodedata.lookup(f"greek small letter {name}")
    except KeyError:
        return name


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


_WRITTEN = {"msup": "{}^{}", "mfrac": "({} / {})", "msqrt": "sqrt({})"}
_PLAIN = {"\u2062": " ", "\u00d7": "x", "\u2212": "-", ",": ", ", **{mark: name for name, mark in _ACCENTS.items()}}


def _plain(element: ElementTree.Element) -> str:
    parts = [_plain(one) for one in element]
    match element.tag:
        case "msub":
            return "_".join(parts).replace(", ", ",")
        case "msup" | "mfrac" | "msqrt":
            # only operators stand unbracketed within a part
            marked = ["mo" in {inner.tag for inner in one} for one in element]
            parts = [f"({part})" if compound else part for part, compound in zip(parts, marked, strict=True)]
            return _WRITTEN[element.tag].format(*parts)
        case "mtable" | "mtr":
            return f"[{', '.join(parts)}]" if element.tag == "mtable" or len(parts) > 1 else parts[0]
        case "mo":
            text = _PLAIN.get(element.text or "", element.text or "")
            return f" {text} " if element.get("form") == "infix" else text
    return "".join(parts) or unicodedata.normalize("NFC", element.text or "")
