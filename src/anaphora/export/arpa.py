"""Count models as ARPA files; ``pipeline/arpa.py`` reads them."""

from collections.abc import Iterable
from pathlib import Path

from anaphora.errors import DataError
from anaphora.formats.arpa import CAPITAL_UNKNOWN, NEVER, ArpaGram, write_arpa
from anaphora.formats.figures import LN_10
from anaphora.models.ngram.model import NgramModel
from anaphora.text.coder import BOS, EOS, MARKS, PAD, UNK, TextCoder
from anaphora.text.words import written

_BEGIN, _END, _UNKNOWN = MARKS[BOS], MARKS[EOS], MARKS[UNK]


def save_arpa(model: NgramModel, coder: TextCoder, path: Path) -> None:
    """Write a count model as an ARPA file; its units are the words.

    Raises DataError when it cannot be written, or when a unit cannot be a word of such a file.

    Running text has one mark between lines, a file two: ``</s>`` as it is predicted, ``<s>`` as a context.
    """
    names = list(written(coder))
    names[PAD] = names[BOS] = ""
    names[EOS], names[UNK] = _END, _UNKNOWN
    _check(name for unit, name in enumerate(names) if unit not in (PAD, BOS))
    sections: list[list[ArpaGram]] = []
    for order, (units, log_probs, log_gammas) in enumerate(model.ngrams(), 1):
        section = []
        for row, log10, backoff in zip(
            units.tolist(), (log_probs / LN_10).tolist(), (log_gammas / LN_10).tolist(), strict=True
        ):
            if order == 1:
                if row == [EOS]:
                    section += [ArpaGram(NEVER, (_BEGIN,), backoff), ArpaGram(log10, (_END,), 0.0)]
                elif names[row[0]]:
                    section.append(ArpaGram(log10, (names[row[0]],), backoff))
                continue
            first = _BEGIN if row[0] == EOS else names[row[0]]
            section.append(ArpaGram(log10, (first, *(names[unit] for unit in row[1:])), backoff))
        sections.append(section)
    write_arpa(path, sections)


def _check(names: Iterable[str]) -> None:
    """DataError for the first unit that is no word between white space, or that reads as another."""
    for name in names:
        if name.encode().split() != [name.encode()]:
            raise DataError(
                f"A word of an ARPA file should hold no white space, but the unit {name!r} does: count other units, or "
                f"a text without it."
            )
        if name == CAPITAL_UNKNOWN:
            raise DataError(
                f"A word of an ARPA file should be no mark, but the unit {name} is read as the unknown word: count a "
                f"text without it."
            )
