"""What a sentence says before it is said in any language: the tree that both realisations read.

Every node is a fresh object and stands for itself: (node, role) names one meaning, and two words of the two languages
that carry one meaning are linked.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from anaphora.data.grammar.entries import Adjective, Determiner, Expression, Gender, Name, Noun, Pronoun, Tense, Verb


class Agreement(NamedTuple):
    """What a subject asks of its verb; ``person`` is 0 je, 1 il or elle, 2 nous, 3 ils or elles."""

    person: int
    gender: Gender

    @property
    def plural(self) -> bool:
        """Whether it is nous, ils or elles."""
        return self.person >= 2


@dataclass(frozen=True, slots=True, eq=False)
class NamePhrase:
    """Marie."""

    name: Name

    @property
    def agreement(self) -> Agreement:
        """Third person singular."""
        return Agreement(1, self.name.gender)


@dataclass(frozen=True, slots=True, eq=False)
class PronounPhrase:
    """She."""

    pronoun: Pronoun

    @property
    def agreement(self) -> Agreement:
        """The pronoun's own."""
        return Agreement(self.pronoun.person, self.pronoun.gender)


@dataclass(frozen=True, slots=True, eq=False)
class NounPhrase:
    """A determiner or an owner, adjectives in English order, a noun, perhaps a relative clause."""

    determiner: Determiner
    adjectives: tuple[Adjective, ...]
    noun: Noun
    plural: bool
    owner: "Nominal | None" = None
    relative: "SubjectRelative | ObjectRelative | None" = None

    @property
    def agreement(self) -> Agreement:
        """Third person, by the noun."""
        return Agreement(3 if self.plural else 1, self.noun.gender)


@dataclass(frozen=True, slots=True, eq=False)
class Coordination:
    """Paul and Marie."""

    first: "Nominal"
    second: "Nominal"

    @property
    def agreement(self) -> Agreement:
        """Third person plural, feminine when both are."""
        feminine = self.first.agreement.gender == self.second.agreement.gender == "f"
        return Agreement(3, "f" if feminine else "m")


Nominal = NamePhrase | PronounPhrase | NounPhrase | Coordination


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """What follows a verb: a noun phrase, bare or with a preposition.

    ``preposition`` is empty for what the verb itself governs, with the verb's own particle and preposition.
    """

    nominal: Nominal
    preposition: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """An adjective said of the subject: (very) old."""

    adjective: Adjective
    very: bool


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """A verb group with what follows it."""

    verb: Verb
    tense: Tense
    modal: Verb | None = None
    negation: Literal["", "not", "never"] = ""
    adverb: Expression | None = None
    complements: tuple[Complement | Quality, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SubjectRelative:
    """Who sings, that eats the apple: the noun is the subject."""

    predicate: Predicate


@dataclass(frozen=True, slots=True, eq=False)
class ObjectRelative:
    """That Marie bought: the noun is the direct object, with which a French participle then agrees."""

    subject: Nominal
    predicate: Predicate


@dataclass(frozen=True, slots=True, eq=False)
class Opinion:
    """Marie thinks that."""

    subject: Nominal
    verb: Verb


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One clause as a statement, a question, or what someone thinks; ``time`` stands first or last."""

    subject: Nominal
    predicate: Predicate
    question: bool = False
    opinion: Opinion | None = None
    time: Expression | None = None
    time_first: bool = False


Meaning = tuple[object, str]
"""A node of the tree and a role in it."""

Word = tuple[str, tuple[Meaning, ...]]
"""A word of either language with the meanings it carries. A plain tuple: a corpus makes a million of them."""


def word(form: str, node: object, role: str) -> Word:
    """A word that carries one meaning."""
    return form, ((node, role),)


def fixed(expression: Expression, forms: tuple[str, ...], node: object, role: str) -> list[Word]:
    """The words of a fixed phrase in one language: word for word where both have as many, else all for all."""
    word_for_word = len(expression.english) == len(expression.french)
    return [word(form, node, f"{role} {place}" if word_for_word else role) for place, form in enumerate(forms)]
