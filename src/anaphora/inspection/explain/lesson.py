"""A worked example: every value with its formula and numbers, as text and as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from anaphora.formats.json_text import Jsonable

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; margin: .5rem 0 1.5rem; display: block; overflow-x: auto }}
td, th {{ padding: .2rem 1.2rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid #8884 }}
td.value {{ font-variant-numeric: tabular-nums; font-weight: 600; white-space: nowrap }}
.blank {{ display: inline-block; min-width: 7rem; border-bottom: 1px solid currentColor }}
</style>
<h1>{title}</h1>
<p>{source}</p>
{sections}
</html>"""

Value = float | tuple[float, ...] | str


@dataclass(frozen=True)
class Line:
    """One value."""

    symbol: str
    """"h_1"."""
    formula: str
    """"a h_0 + b x_1 + c"; empty where the value is given."""
    numbers: str
    """The formula with its numbers."""
    value: Value

    @property
    def answer(self) -> str:
        """The value as it is printed."""
        return shown(self.value)


@dataclass(frozen=True)
class Section:
    """Some values that belong together."""

    title: str
    text: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Lesson(Jsonable):
    """A worked example."""

    title: str
    source: str
    """Where the equations, and perhaps the numbers, are from."""
    sections: tuple[Section, ...]
    difference: float
    """The greatest absolute difference from what the kernels compute."""

    def value(self, symbol: str) -> Value:
        """The value of a symbol; KeyError for one that is not in the lesson."""
        return {line.symbol: line.value for section in self.sections for line in section.lines}[symbol]

    def __str__(self) -> str:
        return self.text()

    def text(self, blank: bool = False) -> str:
        """The lesson for a terminal; with ``blank``, without the answers."""
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
        """The lesson as one page that needs nothing else; with ``blank``, without the answers."""
        sections = []
        for section in self.sections:
            rows = ["<tr><th>value</th><th>formula</th><th>with numbers</th><th>answer</th></tr>"]
            for line in section.lines:
                hidden = blank and line.formula
                answer = '<span class="blank">&nbsp;</span>' if hidden else escape(line.answer)
                numbers = "" if hidden else escape(line.numbers)
                formulas = f"<td><i>{escape(line.symbol)}</i></td><td>{escape(line.formula)}</td><td>{numbers}</td>"
                rows.append(f'<tr>{formulas}<td class="value">{answer}</td></tr>')
            text = f"<p>{escape(section.text)}</p>\n" if section.text else ""
            table = "\n".join(rows)
            sections.append(f"<h2>{escape(section.title)}</h2>\n{text}<table>\n{table}\n</table>")
        if not blank:
            sections.append(f"<p>{escape(self._checked)}</p>")
        return _PAGE.format(title=escape(self.title), source=escape(self.source), sections="\n".join(sections))

    @property
    def _checked(self) -> str:
        return f"The kernels of this package give the same numbers within {self.difference:.1e}."


class Board:
    """Lines of a section while they are worked out."""

    def __init__(self, title: str, text: str = "") -> None:
        self._title, self._text = title, text
        self._lines: list[Line] = []

    def given(self, **values: Value) -> None:
        """Values that the example starts from."""
        self._lines += [Line(name, "", "", value) for name, value in values.items()]

    def number(self, symbol: str, formula: str, numbers: str, value: float) -> float:
        """One number that is worked out."""
        self._lines.append(Line(symbol, formula, numbers, value))
        return value

    def vector(self, symbol: str, formula: str, values: Sequence[float]) -> tuple[float, ...]:
        """Several numbers that are worked out at once."""
        self._lines.append(Line(symbol, formula, "", tuple(values)))
        return tuple(values)

    def words(self, symbol: str, formula: str, value: str, numbers: str = "") -> None:
        """What is not a number alone."""
        self._lines.append(Line(symbol, formula, numbers, value))

    @property
    def section(self) -> Section:
        """The finished section."""
        return Section(self._title, self._text, tuple(self._lines))


def shown(value: Value) -> str:
    """A value as it is printed: five digits after the point."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    text = f"{value + 0.0:.5f}"  # no negative zero
    return text.rstrip("0").rstrip(".") if value == round(value, 5) else text


def n(value: float) -> str:
    """A number within a formula, a negative one in brackets."""
    return shown(value) if value >= 0 else f"({shown(value)})"


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of products."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def furthest(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The greatest absolute difference of two numbers at one place."""
    return max(abs(one - other) for one, other in zip(ours, theirs, strict=True))


def products(left: Sequence[float], right: Sequence[float]) -> str:
    """The sum of products with its numbers."""
    return " + ".join(f"{n(a)} x {n(b)}" for a, b in zip(left, right, strict=True))
