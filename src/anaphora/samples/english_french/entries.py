"""Word classes of the lexicon, with their forms in both languages."""

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "going", "modal"]
DeterminerKind = Literal["definite", "indefinite", "possessive", "number", "quantity"]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A common noun; ``tags`` select the verbs and adjectives that go with it."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: Gender
    tags: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Referent:
    """A name or a subject pronoun; ``person`` is the index of its verb form: je, il or elle, nous, ils or elles."""

    english: str
    french: str
    person: int
    gender: Gender


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective with its French forms; ``before`` is true if it precedes the French noun.

    ``rank`` orders several adjectives in English (opinion, size, age, colour, origin); ``liaison`` is the masculine
    singular before a vowel (un vieil homme); ``predicate`` and ``graded`` allow "is old" and "is very old".
    """

    english: str
    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    liaison: str
    before: bool
    rank: int
    predicate: bool
    graded: bool
    tags: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """A determiner; the last two French forms are used before a vowel (cet homme, mon écharpe)."""

    english: str
    masculine: str
    feminine: str
    masculine_vowel: str
    feminine_vowel: str
    kind: DeterminerKind


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb; ``present`` holds the French forms for je, il, nous and ils.

    ``particle`` follows the English verb (looks for), ``preposition`` the French one (répond à). ``agents`` and
    ``takes`` are the tags of subjects and objects, ``tenses`` those whose English and French forms correspond one to
    one: no past for "read", which is spelt like its present, nor for a state, where English does not distinguish
    imparfait and passé composé. ``with_etre`` selects the French auxiliary, ``together`` allows "with somebody".
    """

    group: str
    base: str
    third: str
    past: str
    infinitive: str
    present: tuple[str, ...]
    participle: str
    particle: str
    preposition: str
    with_etre: bool
    together: bool
    tenses: tuple[Tense, ...]
    agents: frozenset[str]
    takes: frozenset[str]

    @property
    def stative(self) -> bool:
        """Whether the verb describes a state (love, want, think)."""
        return self.tenses == ("present",)


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A fixed phrase with one translation, as words: an adverb, a time, a preposition."""

    english: tuple[str, ...]
    french: tuple[str, ...]
