"""Programs as pictures: the steps of a network side by side, as SVG with real text.

A part is a box, a signal an arrow; what is carried from step to step goes sideways. Boxes of one row have the same
weights at every step.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from anaphora.inspection.svg import FILLS, path, picture, text
from anaphora.protocols import PartDescription
from anaphora.wording import counted

WORDS = ("I", "am", "a", "student")
TARGETS = ("<s>", "Je", "suis", "étudiant")
_WIDE, _HIGH = 150, 40
"""Of a box, in pixels."""
_ACROSS, _UP = 216, 66
"""From one box to the next."""
_LEFT, _TOP = 170, 56


@dataclass(frozen=True)
class Diagram:
    """The programs of a network, unrolled one above the other."""

    name: str
    programs: Mapping[str, Sequence[PartDescription]] = field(repr=False)
    steps: int = len(WORDS)
    """Steps that are drawn."""
    cut_every: int = 0
    """Where the gradient stops, in steps: truncation by chunks; 0 for nowhere."""

    def json(self) -> dict[str, Any]:
        parts = {
            name: [part._asdict() | {"reads": [read._asdict() for read in part.reads]} for part in program]
            for name, program in self.programs.items()
        }
        return {"name": self.name, "steps": self.steps, "cut_every": self.cut_every, "programs": parts}

    def __str__(self) -> str:
        lines = [f"{self.name}, {counted(self.steps, 'step')}"]
        lines += [f"  {name}: {', '.join(part.name for part in parts)}" for name, parts in self.programs.items()]
        return "\n".join(lines)

    def svg(self) -> str:
        drawn = list[str]()
        lanes = [(name, parts) for name, parts in self.programs.items() if parts]
        heights = [_UP * len(parts) + 110 for _, parts in lanes]
        width, total = _LEFT + _ACROSS * self.steps + 60, sum(heights) + _TOP
        bottom = float(total)
        tops = list[float]()
        for (name, parts), height in zip(lanes, heights, strict=True):  # from the bottom up, as signals flow
            lane = _Lane(name, parts, self.steps, bottom - 50)
            drawn += lane.drawn()
            if any(part.memory for part in parts) and tops:
                drawn += lane.memory_from(tops[-1])
            if self.cut_every:
                drawn += lane.cuts(self.cut_every, height)
            bottom -= height
            tops.append(bottom + 40)
        return picture(self.name, str(self), width, total, drawn)


def diagrams(name: str, programs: Mapping[str, Sequence[PartDescription]], cut_every: int = 0) -> list[Diagram]:
    """The whole network over a sentence, then one step of each of its programs."""
    whole = Diagram(name, programs, cut_every=cut_every)
    return [whole, *(Diagram(f"{name}, {one}", {one: parts}, 1) for one, parts in programs.items() if parts)]


class _Lane:
    """One program unrolled: a column of boxes for each step."""

    def __init__(self, name: str, parts: Sequence[PartDescription], steps: int, bottom: float) -> None:
        self._name, self._parts, self._steps, self._bottom = name, parts, steps, bottom
        self._backwards = name.endswith("right to left")
        self._writer = {signal: row for row, part in enumerate(parts) for signal in part.writes}

    def _x(self, step: int) -> float:
        return _LEFT + _ACROSS * (self._steps - 1 - step if self._backwards else step)

    def _y(self, row: int) -> float:
        return self._bottom - 60 - _UP * row

    def drawn(self) -> list[str]:
        """Boxes, words and arrows."""
        found = [text(20, self._y(len(self._parts)) + 16, self._name, "title")]
        for step in range(self._steps):
            for row, part in enumerate(self._parts):
                found += self._box(step, row, part)
                for number, read in enumerate(part.reads):
                    if read.previous:
                        found += self._carried(step, row, read.signal, number)
                    elif read.signal in self._writer:
                        found.append(self._flow(step, self._writer[read.signal], row, number))
                    else:
                        found += self._outside(step, row, read.signal, number)
            last = len(self._parts) - 1
            x, y = self._x(step) + _WIDE / 2, self._y(last)
            found.append(path("flow", x, y, x, y - 22))
            found.append(text(x + 6, y - 12, ", ".join(self._parts[last].writes), "small"))
        return found

    def _box(self, step: int, row: int, part: PartDescription) -> list[str]:
        x, y = self._x(step), self._y(row)
        fill = FILLS[row % len(FILLS)]
        weights = "; ".join(f"{name} {' x '.join(map(str, shape))}" for name, shape in part.weights.items())
        kind = part.kind if len(part.kind) <= 24 else f"{part.kind[:23]}\u2026"
        return [
            f'<rect class="box" x="{x:.0f}" y="{y:.0f}" width="{_WIDE}" height="{_HIGH}" rx="6" fill="{fill}">'
            f"<title>{escape(f'{part.name}: {part.kind}; weights: {weights or None}')}</title></rect>",
            text(x + 8, y + 16, part.name),
            text(x + 8, y + 31, kind, "small"),
        ]

    def _flow(self, step: int, row: int, to: int, number: int) -> str:
        """A signal within a step: straight to the next box, around those in between to others."""
        x, y, end = self._x(step), self._y(row), self._y(to) + _HIGH
        if to == row + 1:
            return path("flow", x + _WIDE / 2 + 9 * number, y, x + _WIDE / 2 + 9 * number, end)
        side, out = x + _WIDE, 14 + 7 * (to - row)
        middle_from, middle_to = y + _HIGH / 2, self._y(to) + _HIGH / 2 + 5 * number
        return (
            f'<path class="flow" d="M{side:.0f} {middle_from:.0f} C{side + out:.0f} {middle_from:.0f} '
            f'{side + out:.0f} {middle_to:.0f} {side:.0f} {middle_to:.0f}"/>'
        )

    def _carried(self, step: int, row: int, signal: str, number: int) -> list[str]:
        """A signal of the step before; at the first step, the initial state."""
        y = self._y(row) + _HIGH / 2 + 9 * (number % 3) - 6
        if self._backwards:
            to, start = self._x(step) + _WIDE, self._x(step) + _WIDE + 34
            before = self._x(step - 1) if step else 0
        else:
            to, start = self._x(step), self._x(step) - 34
            before = self._x(step - 1) + _WIDE if step else 0
        if step:
            return [path("carried", before, self._y(self._writer[signal]) + _HIGH / 2, to, y)]
        named = text(start + (4 if self._backwards else -4), y - 4, f"{signal}\u2080", "small")
        return [
            path("first", start, y, to, y),
            named if self._backwards else named.replace("<text ", '<text text-anchor="end" '),
        ]

    def _outside(self, step: int, row: int, signal: str, number: int) -> list[str]:
        """A signal from outside: the word that is read, or another network."""
        word = self._word(step) if signal == "x" else signal
        if row == 0:
            x, y = self._x(step) + _WIDE / 2 + 9 * number, self._y(row) + _HIGH
            return [path("flow", x, y + 24, x, y), text(x - 8, y + 38, word)]
        x, y = self._x(step), self._y(row) + _HIGH - 8
        named = text(x - 8, y - 5, word).replace("<text ", '<text text-anchor="end" ')
        return [path("flow", x - 40, y, x, y), named]

    def _word(self, step: int) -> str:
        """What is read at a step: a word, or the output of the layer below."""
        below = re.match(r"encoder layer ([1-9]\d*)", self._name)
        if below:
            return f"h of layer {int(below[1]) - 1}"
        words = TARGETS if self._name == "decoder" else WORDS
        place = self._steps - 1 - step if self._backwards else step
        return words[place] if self._steps == len(words) else "x"

    def memory_from(self, below: float) -> list[str]:
        """What every step looks at, from the program below."""
        found = []
        for step in range(self._steps):
            for row, part in enumerate(self._parts):
                if part.memory:
                    x = self._x(step) + 18
                    found.append(path("memory", x, below, x, self._y(row) + _HIGH))
        found.append(text(self._x(0) + 26, below - 8, "memory of the sentence", "small"))
        return found

    def cuts(self, every: int, height: float) -> list[str]:
        """Where the state goes on and the gradient does not."""
        found = []
        for step in range(every, self._steps, every):
            x = self._x(step) - (_ACROSS - _WIDE) / 2
            ends = f'y1="{self._bottom:.0f}" y2="{self._bottom - height + 60:.0f}"'
            found.append(f'<line class="cut" x1="{x:.0f}" x2="{x:.0f}" {ends}/>')
            found.append(text(x - 60, self._bottom + 16, "the gradient stops here", "small"))
        return found
