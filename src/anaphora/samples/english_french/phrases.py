"""The syntax tree of a sentence, from which both languages are generated.

Every node is a fresh object with its own identity: (node, role) is one meaning, and two words of the two languages
that carry the same meaning are linked.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from anaphora.samples.english_french.entries import (
    Adjective,
    Determiner,
    Expression,
    Gender,
    Noun,
    Referent,
    Tense,
    Verb,
)

Negation = Literal["", "not", "never"]


class Agreement(NamedTuple):
    """Person and gender of a subject; ``person`` is 0 je, 1 il or elle, 2 nous, 3 ils or elles."""

    person: int
    gender: Gender

    @property
    def plural(self) -> bool:
        """Whether the person is nous, ils or elles."""
        return self.person >= 2


@dataclass(frozen=True, slots=True, eq=False)
class Bare:
    """Marie, she."""

    referent: Referent

    @property
    def agreement(self) -> Agreement:
        """Person and gender of the name or pronoun."""
        return Agreement(self.referent.person, self.referent.gender)


@dataclass(frozen=True, slots=True, eq=False)
class NounPhrase:
    """A determiner or an owner, adjectives in English order, a noun, and an optional relative clause."""

    determiner: Determiner
    adjectives: tuple[Adjective, ...]
    noun: Noun
    plural: bool
    owner: "Nominal | None" = None
    relative: "Relative | None" = None

    @property
    def agreement(self) -> Agreement:
        """Third person, with the noun's gender."""
        return Agreement(3 if self.plural else 1, self.noun.gender)


@dataclass(frozen=True, slots=True, eq=False)
class Coordination:
    """Paul and Marie."""

    first: "Nominal"
    second: "Nominal"

    @property
    def agreement(self) -> Agreement:
        """Third person plural, feminine if both members are."""
        feminine = self.first.agreement.gender == self.second.agreement.gender == "f"
        return Agreement(3, "f" if feminine else "m")


Nominal = Bare | NounPhrase | Coordination


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """A noun phrase after a verb; without ``preposition`` the verb's own particle and preposition govern it."""

    nominal: Nominal
    preposition: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """A predicative adjective: (very) old."""

    adjective: Adjective
    very: bool


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """A verb group and its complements."""

    verb: Verb
    tense: Tense
    modal: Verb | None = None
    negation: Negation = ""
    adverb: Expression | None = None
    complements: tuple[Complement | Quality, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Relative:
    """A relative clause: who sings, or, with a subject of its own, that Marie bought.

    In the latter the noun is the direct object, with which a French participle agrees.
    """

    predicate: Predicate
    subject: Nominal | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """Marie thinks that."""

    subject: Nominal
    verb: Verb


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One clause as a statement, a question, or a reported opinion; ``time`` comes first or last."""

    subject: Nominal
    predicate: Predicate
    question: bool = False
    opinion: Opinion | None = None
    time: Expression | None = None
    time_first: bool = False


Meaning = tuple[object, str]
"""A node of the tree and a role in it."""

Word = tuple[str, tuple[Meaning, ...]]
"""A word of either language with the meanings it carries. A plain tuple, since a corpus has a million of them."""


def word(form: str, node: object, role: str) -> Word:
    """A word that carries one meaning."""
    return form, ((node, role),)
