"""Formulas of lessons: Python expressions over known values, worked out and typeset in MathML."""

import ast
import math
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import count, takewhile
from timeit import repeat
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from anaphora.errors import ConfigError
from anaphora.kernels.compiled.gemm import gemm, pack_rows


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
    "relu": lambda a: np.maximum(a, 0),
    "prod": lambda *values: math.prod(values),
    "seconds": _seconds,
    "sigm": lambda a: 1 / (1 + np.exp(-a)),
    "softmax": _softmax,
    "sort": lambda vector: -np.sort(-vector),
    "sqrt": np.sqrt,
    "steps": lambda first, last: range(first, last + 1) if first <= last else range(first, last - 1, -1),
    "sum": lambda *values: sum(values) if len(values) != 1 else np.sum(values[0]),
    "tanh": np.tanh,
}
"""Functions of formulas. ``steps`` counts up or down, both ends included; places count from 1."""
_ADD, _TIMES, _FRACTION, _POWER, _ATOM = range(1, 6)
_OPERATORS: Mapping[type[ast.operator], tuple[Callable[[Any, Any], Any], int]] = {
    ast.Add: (lambda a, b: a + b, _ADD),
    ast.Sub: (lambda a, b: a - b, _ADD),
    ast.Mult: (lambda a, b: a * b, _TIMES),
    ast.MatMult: (lambda a, b: a @ b, _TIMES),
    ast.Div: (lambda a, b: a / b, _FRACTION),
    ast.Pow: (lambda a, b: a**b, _POWER),
    ast.FloorDiv: (lambda a, b: a // b, _TIMES),
    ast.Mod: (lambda a, b: a % b, _TIMES),
}
"""Operators, and how strongly they bind."""
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}
_NOTHING, _ONE = "<mn>0</mn>", "<mn>1</mn>"
_PLUS, _MINUS, _X, _DOT, _CIRCLE = (f'<mo form="infix">{sign}</mo>' for sign in "+\u2212\u00d7\u00b7\u2299")
_SIGN, _SPACE = '<mo form="prefix">\u2212</mo>', "<mo>\u2062</mo>"
_ACCENTS = {"hat": "^", "tilde": "~", "bar": "\u00af"}
_PLAIN = {"\u2062": " ", "\u00d7": "x", "\u2212": "-", ",": ", "}


class Term(NamedTuple):
    """Part of a formula."""

    value: Any
    formula: str
    """In MathML."""
    numbers: str
    """The same with numbers in place of symbols."""
    binds: int = _ATOM


class Formulas:
    """Formulas over ``values``, by symbol: "W_xh", "h[1]"."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.reads = dict[str, None]()
        """Symbols that formulas read, in their order."""

    def loops(self, text: str, outer: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the numbers of "t in steps(1, 4) for s in steps(t, 1)", one after another."""
        return list(self._loop(_parse(f"[0 for {text}]").generators, outer)) if text else [{**outer}]

    def work_out(self, text: str, numbers: Mapping[str, Any]) -> Term:
        """Return an expression, worked out; ``numbers`` are those of its loops. ConfigError for an unknown symbol."""
        return self._term(_parse(text), numbers)

    def symbol(self, text: str, numbers: Mapping[str, Any]) -> tuple[str, str]:
        """Return the key of a symbol among the values, and its MathML."""
        name, places = self._place(_parse(text), numbers)
        return _key(name, places), symbol(name, places)

    def _term(self, node: Any, here: Mapping[str, Any]) -> Term:
        match node:
            case ast.Constant(value=value):
                return Term(value, typeset(value), typeset(value))
            case ast.Name(id=name) if name in here:
                return Term(here[name], typeset(here[name]), typeset(here[name]))
            case ast.Name() | ast.Subscript():
                name, places = self._place(node, here)
                value = self._value(name, places)
                return Term(value, symbol(name, places), typeset(value))
            case ast.List(elts=parts):
                terms = [self._term(one, here) for one in parts]
                value = np.array([one.value for one in terms])
                return Term(value, *(_table([cell] for cell in cells) for cells in _columns(terms)))
            case ast.Attribute(value=inner, attr="T"):
                term = self._term(inner, here)
                return Term(term.value.T, _sup(_bracketed(term, _ATOM).formula, "<mi>T</mi>"), typeset(term.value.T))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                value, *shown = _bracketed(self._term(inner, here), _TIMES)[:3]
                return Term(-value, *(f"{_SIGN}{one}" for one in shown), _ADD)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._term(body if self._term(test, here).value else other, here)
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                values = self._term(left, here).value, self._term(right, here).value
                return Term(_COMPARISONS[type(sign)](*values), "", "")
            case ast.BinOp(left=left, op=sign, right=right):
                return _joined(type(sign), self._term(left, here), self._term(right, here))
            case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp(elt=inner, generators=loops)]):
                return _call(name, [self._term(inner, one) for one in self._loop(loops, here)])
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return _call(name, [self._term(one, here) for one in arguments])
        raise ConfigError(f"A formula of a lesson cannot have {ast.unparse(node)}: see FUNCTIONS in {__name__}.")

    def _loop(self, loops: Sequence[ast.comprehension], here: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the numbers of nested loops."""
        if not loops:
            yield dict(here)
            return
        for number in self._term(loops[0].iter, here).value:
            inside = {**here, ast.unparse(loops[0].target): number}
            if all(self._term(one, inside).value for one in loops[0].ifs):
                yield from self._loop(loops[1:], inside)

    def _place(self, node: Any, here: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return the name of a symbol and the places after it."""
        places: list[Any] = []
        while isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            places[:0] = [self._term(one, here).value for one in inner]
            node = node.value
        return ast.unparse(node), places

    def _value(self, name: str, places: Sequence[Any]) -> Any:
        """Return the value of a symbol, of an element of a vector or table, or of all its steps from 1 on."""
        keys = [_key(name, places[:known]) for known in range(len(places), -1, -1)]
        found = next((key for key in keys if key in self.values), None)
        if found is not None:
            value, rest = self.values[found], keys.index(found)
            self.reads |= dict.fromkeys(keys[: rest + 1])
            for place in places[len(places) - rest :]:
                if place not in range(1, len(value) + 1):
                    raise ConfigError(f"{found} has no element {place}: it has {len(value)}, counted from 1.")
                value = value[place - 1]
            return value
        steps = [*takewhile(self.values.__contains__, (f"{name}[{step}]" for step in count(1)))]
        if places or not steps:
            raise ConfigError(f"{keys[0]} has no value: a symbol of a lesson is given, or a row before.")
        self.reads |= dict.fromkeys(steps)
        return np.array([self.values[step] for step in steps])


def _parse(text: str) -> Any:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ConfigError(f"A formula should be a Python expression, but is {text}.") from None


def _joined(sign: type[ast.operator], left: Term, right: Term) -> Term:
    """Return two terms joined by an operator."""
    apply, binds = _OPERATORS[sign]
    if sign is ast.Add and _NOTHING in (left.formula, right.formula):
        return left if right.formula == _NOTHING else right
    value, vectors = apply(left.value, right.value), np.ndim(left.value) and np.ndim(right.value)
    if isinstance(value, int) and (left.formula, right.formula) == (left.numbers, right.numbers):  # of steps: t - 1
        return Term(value, typeset(value), typeset(value))
    if sign is ast.Pow and type(right.value) is int and right.value in (0, 1):
        return Term(1, _ONE, _ONE) if right.value == 0 else left
    if sign is ast.Mult and left.formula == _ONE:
        return right
    if sign is ast.Div:
        return Term(value, *(f"<mfrac>{_row(a)}{_row(b)}</mfrac>" for a, b in _pairs(left, right)), binds)
    if sign is ast.Pow:
        return Term(value, *(_sup(a, b) for a, b in _pairs(_bracketed(left, _ATOM), right)), binds)
    if sign in (ast.Add, ast.Sub):
        mark = _PLUS if sign is ast.Add else _MINUS
        pairs = _pairs(left, _bracketed(right, _ADD if sign is ast.Add else _TIMES))
        return Term(value, *(f"{a}{mark}{b}" for a, b in pairs), binds)
    dot = _CIRCLE if vectors and sign is ast.Mult else _SPACE
    pairs = _pairs(_bracketed(left, _TIMES), _bracketed(right, _TIMES))
    formula, numbers = (f"{a}{mark}{b}" for (a, b), mark in zip(pairs, (dot, dot if vectors else _X), strict=True))
    if sign is ast.MatMult and np.ndim(left.value) == np.ndim(right.value) == 1:
        formula = formula.replace(_SPACE, _DOT)
        products = zip(left.value, right.value, strict=True)
        return Term(value, formula, _PLUS.join(f"{typeset(a)}{_X}{typeset(b)}" for a, b in products), _ADD)
    return Term(value, formula, numbers, binds)


def _call(name: str, terms: Sequence[Term]) -> Term:
    """Return a function of terms."""
    if name not in FUNCTIONS:
        raise ConfigError(f"{name} is no function of lessons: they have {', '.join(FUNCTIONS)}.")
    value = FUNCTIONS[name](*(one.value for one in terms))
    match name:
        case "sum" | "prod" if len(terms) != 1:
            binds, marks = (_ADD, (_PLUS, _PLUS)) if name == "sum" else (_TIMES, (_SPACE, _X))
            columns = _columns([_bracketed(one, binds) for one in terms])
            return Term(value, *(mark.join(one) or _NOTHING for mark, one in zip(marks, columns, strict=True)), binds)
        case "sum" | "prod":
            return terms[0] if np.ndim(terms[0].value) == 0 else Term(value, *_applied(name, terms))
        case "outer":
            left, right = (_bracketed(one, _TIMES) for one in terms)
            turned = _sup(_bracketed(terms[1], _ATOM).formula, "<mi>T</mi>")
            numbers = f"{left.numbers}{_SPACE}{typeset(np.atleast_2d(right.value))}"
            return Term(value, f"{left.formula}{_SPACE}{turned}", numbers, _TIMES)
        case "onehot":
            return Term(value, f"<msub><mn>1</mn>{_row(terms[0].formula)}</msub>", typeset(value))
        case "sqrt":
            return Term(value, *(f"<msqrt>{one}</msqrt>" for one in terms[0][1:3]))
        case "norm" | "abs":
            bar = "<mo>|</mo>" if name == "abs" else "<mo>\u2016</mo>"
            return Term(value, *(f"<mrow>{bar}{one}{bar}</mrow>" for one in terms[0][1:3]))
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


def _key(name: str, places: Sequence[Any]) -> str:
    return f"{name}[{','.join(map(str, places))}]" if places else name


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
