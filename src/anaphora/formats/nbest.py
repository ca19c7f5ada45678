"""N-best lists of other programs: what each hypothesis says, and its line with one score more.

    moses    3 ||| the man walks ||| lm: -36 tm: -4.2 ||| -40.2          a feature is added; natural logarithm
             3 ||| the man walks ||| 0-0 1-1 2-2 ||| F0= -4.2 ||| -1.4   the same (Marian, with --alignment)
    kaldi    utterance-7-2 the man walks                                 becomes  utterance-7-2 COST, COST = -ln p
    srilm    -120.5 -36.2 3 the man walks                                the second number is replaced; log10 p

Whatever else stands in a line stays as it is, byte for byte. Lines come without their ends: ``formats.lines`` takes LF
and CRLF off and writes LF.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from anaphora.errors import ConfigError, DataError
from anaphora.formats.json_text import LN_10
from anaphora.wording import inflect

_BLANKS = " \t"
_OTHER = "is the list in another format?"
_BORDER = re.compile(r"(?<![^ \t])\|\|\|(?![^ \t])")
_NUMBER = r"[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|(?i:inf|infinity|nan))"
_FEATURE = re.compile(rf"(\S+)[=:](?:{_NUMBER})?|{_NUMBER}")
_LINK = r"(?:[0-9]+-[0-9]+|[0-9.eE+-]+(?:,[0-9.eE+-]+)+)"
_BESIDE = re.compile(rf"[ \t]*(?:WordScores=.*|(?:{_LINK}(?:[ \t]+|\Z))*)", re.DOTALL)
"""Marian's fields between a hypothesis and its features: word alignments, hard or soft, and word scores."""
_KALDI = re.compile(r"([^ \t]+-[0-9]+)(?:([ \t]+)(.*))?", re.DOTALL)
_SRILM = re.compile(r"([ \t]*([^ \t]+)[ \t]+)([^ \t]+)([ \t]+([^ \t]+)(?:[ \t]+(.*))?)", re.DOTALL)

_SENTENCE_MARKS = re.compile(r"\A<s>(?=[ \t]|\Z)|(?:\A|(?<=[ \t]))</s>\Z")
"""The ends of a sentence, which lattice-tool writes with it and which every score counts of itself."""


@dataclass(frozen=True)
class Entry:
    """One line of a list."""

    text: str
    """The hypothesis."""
    before: str
    """The line up to the new score."""
    after: str = ""
    """The line behind the new score."""
    features: frozenset[str] = frozenset()
    """The names of its scores, where they have some."""


class NbestFormat(NamedTuple):
    """One way to write a list."""

    parse: Callable[[str, str], Entry]
    """Function from a line, and where it stands, to what it says; DataError for a line that is none."""
    factor: float
    """The factor by which a score is multiplied that is written, log10 p without."""
    base: str
    """The base of its logarithms, for people."""
    names_features: bool = False
    """True if its scores have names."""

    def score(self, entry: Entry, log10: float, feature: str) -> str:
        """Return the line with the hypothesis's log10 p added as ``feature``, in the base of the format."""
        name = f" {feature}= " if self.names_features else ""
        return f"{entry.before}{name}{log10 * self.factor:.6f}{entry.after}"


def _parse_moses(line: str, where: str) -> Entry:
    """Fields between ``|||``: number, hypothesis, features, total, and what may follow it.

    In front of the features there may be word alignments and scores of words, as Marian writes them. There are at least
    three fields; the hypothesis and the features may be empty.
    """
    fields = _BORDER.split(line)
    if len(fields) < 3:
        raise DataError(
            f"{where} should read NUMBER ||| TEXT ||| FEATURES ||| TOTAL, not {inflect(len(fields), 'field')}: {_OTHER}"
        )
    place = _place(fields)
    names = _names(fields[place])
    if names is None:
        raise DataError(
            f"{where} should have features after the hypothesis, numbers and names that end in =, but has "
            f"'{fields[2].strip()[:40]}': does the hypothesis hold |||, or is the list in another format?"
        )
    features = fields[place].rstrip(_BLANKS)
    behind = fields[place][len(features) :] if features else " " * (len(fields) > place + 1)
    before, after = "|||".join([*fields[:place], features]), "|||".join([behind, *fields[place + 1 :]])
    return Entry(fields[1].strip(_BLANKS), before, after, frozenset(filter(None, names)))


def moses_line(number: int, text: str, features: Mapping[str, float], total: float) -> str:
    """Return a line of a Moses list: hypotheses of one input share its ``number``, from 0.

    Bars in a text are escaped.
    """
    scores = " ".join(
        f"{name}= {value:.6f}" if isinstance(value, float) else f"{name}= {value}" for name, value in features.items()
    )
    fields = (str(number), text.replace("|||", "&#124;&#124;&#124;"), scores, f"{total:.6f}")
    return " ||| ".join(fields)


def _names(field: str) -> list[str] | None:
    """Return the names of the scores in a field, nothing for one without; None where something else stands in it."""
    found = [_FEATURE.fullmatch(one) for one in field.split()]
    return None if None in found else [one[1] or "" for one in found if one]


def _place(fields: list[str]) -> int:
    """Return the field of features: the first with names after links and scores of words, else the third."""
    for place, field in enumerate(fields[2:], 2):
        if not _BESIDE.fullmatch(field):
            return place if any(_names(field) or ()) else 2
    return 2


def _parse_kaldi(line: str, where: str) -> Entry:
    """``NAME-RANK words``: what is written is the same name and the cost, a negative natural logarithm."""
    found = _KALDI.fullmatch(line)
    if found is None:
        raise DataError(f"{where} should begin with NAME-RANK, not '{''.join(line.split()[:1])[:40]}': {_OTHER}")
    return Entry((found[3] or "").strip(_BLANKS), found[1] + (found[2] or " "))


def _parse_srilm(line: str, where: str) -> Entry:
    """``ACOUSTIC LANGUAGE COUNT words``, logarithms to base 10; the language score is replaced."""
    found = _SRILM.fullmatch(line)
    try:
        if found is None:
            raise ValueError
        float(found[2]), float(found[3]), int(found[5])
    except ValueError:
        raise DataError(f"{where} should begin with ACOUSTIC LANGUAGE COUNT, not '{line[:40]}': {_OTHER}") from None
    text = _SENTENCE_MARKS.sub("", (found[6] or "").strip(_BLANKS)).strip(_BLANKS)
    return Entry(text, found[1], found[4])


FORMATS = {
    "moses": NbestFormat(_parse_moses, LN_10, "e", names_features=True),
    "kaldi": NbestFormat(_parse_kaldi, -LN_10, "e"),
    "srilm": NbestFormat(_parse_srilm, 1.0, "10"),
}
"""Every format by its name."""


def check_name(feature: str) -> None:
    """ConfigError for a name of a feature that a list cannot have."""
    if not feature or not feature.isprintable() or set(feature) & set(" =|"):
        raise ConfigError(
            f"The name of a feature should be a word without white space, = and |, but is {feature!r}: give another."
        )


def check_new(feature: str, entry: Entry, where: str) -> None:
    """ConfigError for a line, which stands ``where`` it is said, that has the feature already."""
    if feature in entry.features:
        raise ConfigError(f"{where} should have no feature {feature} yet, but has one: give the new one another name.")
