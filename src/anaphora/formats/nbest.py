"""N-best lists of other programs: what each hypothesis says, and its line with one score more.

    moses    3 ||| the man walks ||| lm: -36 tm: -4.2 ||| -40.2          a feature is added; natural logarithm
    kaldi    utterance-7-2 the man walks                                 becomes  utterance-7-2 COST, COST = -ln p
    srilm    -120.5 -36.2 3 the man walks                                the second number is replaced; log10 p

Whatever else stands in a line stays as it is, byte for byte.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from anaphora.errors import DataError

_FIELD = " ||| "


@dataclass(frozen=True)
class Entry:
    """One line of a list."""

    text: str
    """The hypothesis."""
    line: str
    """The line as it was read."""


class NbestFormat(ABC):
    """One way to write a list."""

    name: str
    base: str
    """The base of its logarithms, for people."""

    @abstractmethod
    def parse(self, line: str, where: str) -> Entry:
        """A line, read; DataError naming ``where`` it stands for one that is none."""

    @abstractmethod
    def scored(self, entry: Entry, log10: float, feature: str) -> str:
        """The line with the hypothesis's log10 p added as ``feature``, in the base of the format."""


class Moses(NbestFormat):
    """Fields between ``|||``: number, hypothesis, features, total, and what there may be behind it."""

    name = "moses"
    base = "e"

    def parse(self, line: str, where: str) -> Entry:
        """At least three fields; the hypothesis may be empty."""
        fields = self._fields(line)
        if len(fields) < 3:
            raise DataError(
                f"{where} should read NUMBER ||| HYPOTHESIS ||| FEATURES ||| TOTAL, but has {len(fields)} field(s): "
                f"is the list in another format?"
            )
        return Entry(fields[1].strip(), line)

    def scored(self, entry: Entry, log10: float, feature: str) -> str:
        """``FEATURE= value`` behind the last feature."""
        fields = self._fields(entry.line)
        fields[2] = f"{fields[2]} {feature}= {log10 * math.log(10):.6f}".lstrip()
        return _FIELD.join(fields)

    @staticmethod
    def _fields(line: str) -> list[str]:
        # an empty field at either side of ||| leaves one space only
        return line.replace("||| |||", "|||  |||").split(_FIELD)


class Kaldi(NbestFormat):
    """``NAME-RANK words``: what is written is the same name and the cost, a negative natural logarithm."""

    name = "kaldi"
    base = "e"

    def parse(self, line: str, where: str) -> Entry:
        """A name with a rank behind its last dash."""
        name, _, text = line.partition(" ")
        group, dash, rank = name.rpartition("-")
        if not (dash and group and rank.isdigit()):
            raise DataError(
                f"{where} should begin with the name of an utterance, a dash and the rank of the hypothesis, but "
                f"begins with '{name[:40]}': is the list in another format?"
            )
        return Entry(text.strip(), line)

    def scored(self, entry: Entry, log10: float, feature: str) -> str:
        """The name and -ln p."""
        return f"{entry.line.partition(' ')[0]} {-log10 * math.log(10):.6f}"


class Srilm(NbestFormat):
    """``ACOUSTIC LANGUAGE COUNT words``, logarithms to base 10."""

    name = "srilm"
    base = "10"

    def parse(self, line: str, where: str) -> Entry:
        """Two numbers and a count."""
        fields = line.split(" ", 3)
        try:
            float(fields[0]), float(fields[1]), int(fields[2])
        except (ValueError, IndexError):
            raise DataError(
                f"{where} should begin with the acoustic score, the language score and the number of words, but "
                f"begins with '{line[:40]}': is the list in another format?"
            ) from None
        return Entry(fields[3].strip() if len(fields) > 3 else "", line)

    def scored(self, entry: Entry, log10: float, feature: str) -> str:
        """log10 p in the place of the old language score."""
        first, _, rest = entry.line.split(" ", 2)
        return f"{first} {log10:.6f} {rest}"


FORMATS: dict[str, NbestFormat] = {one.name: one for one in (Moses(), Kaldi(), Srilm())}
"""Every format by its name."""


def parse_list(lines: list[str], kind: NbestFormat, path: Path | str) -> list[Entry]:
    """A whole list; DataError for the first line that is none of it."""
    return [kind.parse(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]
