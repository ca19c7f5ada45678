"""The terms of a glossary as tokens: what each translation must contain and must not."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.errors import DataError
from anaphora.formats.glossary import GlossaryEntry
from anaphora.prediction.glossary import Glossary
from anaphora.search.automaton import Form
from anaphora.search.steering import Steering
from anaphora.search.terms import Terms, TermsOfBatch
from anaphora.text.masking import MaskedText
from anaphora.text.tokenizer import UNK, Tokenizer
from anaphora.text.words import WordTokenizer


class SentenceTerms(NamedTuple):
    """The terms of a sentence."""

    required: tuple[tuple[Form, ...], ...] = ()
    forbidden: tuple[Form, ...] = ()

    @property
    def tokens(self) -> set[int]:
        """The tokens of what is required."""
        return {token for forms in self.required for form in forms for token in form}


class RequiredTerms:
    """The terms of a glossary in the tokens of one target vocabulary."""

    def __init__(self, glossary: Glossary, target: Tokenizer) -> None:
        self._glossary, self._target = glossary, target
        spaces = not isinstance(target, WordTokenizer) and not target.context_free
        space = target.encode("a b")[1:2] if spaces else []
        self._space = space[0] if space and space != [UNK] else None

    def of(self, masked: MaskedText, number: int, prefix: Form = (), suffix: Form = ()) -> SentenceTerms:
        """The terms of a sentence on line ``number``; DataError for those that cannot be written, or contradict.

        ``prefix`` and ``suffix`` are the tokens that the translation begins and ends with.
        """
        text = list(masked.text)
        for unit in masked.units:
            text[unit.start : unit.end] = "\0" * (unit.end - unit.start)
        matches = self._glossary.of("".join(text))
        forbidden = {form: entry for entry, _ in matches for one in entry.forbidden for form in self._forms(one, True)}
        begun = prefix if self._space is None else (self._space, *prefix)
        for form, entry in forbidden.items():
            if prefix and within(form, begun):
                raise DataError(
                    f"Line {number} has a prefix with a term that is forbidden there ({entry.where}): leave out one of "
                    f"the two."
                )
            if any(suffix[: len(part)] == part[: len(suffix)] for part in _tails(form) if suffix) or (
                suffix and within(form, suffix)
            ):
                raise DataError(
                    f"Line {number} has a suffix with a term that is forbidden there, or with the end of one "
                    f"({entry.where}): leave out one of the two."
                )
        required = dict[tuple[Form, ...], GlossaryEntry]()
        for entry, capital in matches:
            forms = dict.fromkeys(form for one in entry.required for form in self._forms(one, capital))
            known = [form for form in forms if UNK not in form]
            if forms and not known:
                raise DataError(
                    f"Line {number} needs '{entry.required[0]}' ({entry.where}), which has words outside the "
                    f"vocabulary of the translator: use another translation, or one of subwords."
                )
            able = tuple(form for form in known if not any(within(other, form) for other in forbidden))
            if known and not able:
                other = next(forbidden[other] for other in forbidden if within(other, known[0]))
                raise DataError(
                    f"Line {number} needs '{entry.required[0]}' ({entry.where}), which is forbidden there "
                    f"({other.where}): leave out one of the two."
                )
            if able:
                required[able] = entry
        return SentenceTerms(tuple(required), tuple(forbidden))

    def steering(
        self, rows: Sequence[SentenceTerms], longest: Sequence[int], after_V: Tensor, eos: int
    ) -> list[Steering]:
        """Return the steering of these rows, or None where they have no terms."""
        required = {term: g for g, term in enumerate(dict.fromkeys(term for row in rows for term in row.required))}
        forbidden = {form: f for f, form in enumerate(dict.fromkeys(form for row in rows for form in row.forbidden))}
        if not required and not forbidden:
            return []
        required_BG = torch.zeros(len(rows), len(required), dtype=torch.bool)
        forbidden_BF = torch.zeros(len(rows), len(forbidden), dtype=torch.bool)
        for b, row in enumerate(rows):
            required_BG[b, [required[term] for term in row.required]] = True
            forbidden_BF[b, [forbidden[form] for form in row.forbidden]] = True
        lengths_B = torch.tensor(longest)
        terms = TermsOfBatch(tuple(required), tuple(forbidden), required_BG, forbidden_BF, lengths_B, self._space)
        return [Terms(terms, after_V, eos)]

    def _forms(self, text: str, capital: bool) -> list[Form]:
        """A form as tokens, as it is written, and with a capital where one may be."""
        texts = dict.fromkeys((text, text[:1].upper() + text[1:]) if capital else (text,))
        space = " " if self._space is not None else ""
        return [tuple(self._target.encode(space + one)) for one in texts]


def within(one: Form, other: Form) -> bool:
    """True if a form is a part of another."""
    return any(other[place : place + len(one)] == one for place in range(len(other) - len(one) + 1))


def _tails(form: Form) -> list[Form]:
    """A form without one or more of its first tokens."""
    return [form[start:] for start in range(1, len(form))]
