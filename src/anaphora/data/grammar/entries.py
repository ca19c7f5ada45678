"""The kinds of word that the lexicon lists, and what each knows about itself."""

from dataclasses import dataclass, field
from typing import Literal

Gender = Literal["m", "f"]
Tense = Literal["present", "past", "going", "modal"]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A common noun; ``tags`` say which verbs and adjectives suit it."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: Gender
    tags: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A proper name, the same in both languages."""

    form: str
    gender: Gender


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """A subject pronoun; ``person`` is the index of its verb form: je, il or elle, nous, ils or elles."""

    english: str
    french: str
    person: int
    gender: Gender


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective with its French forms; ``before`` tells those that precede the noun.

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
    tags: frozenset[str]
    predicate: bool
    graded: bool


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """A determiner; the last two French forms stand before a vowel (cet homme, mon écharpe)."""

    english: str
    masculine: str
    feminine: str
    masculine_vowel: str
    feminine_vowel: str
    kind: Literal["definite", "indefinite", "possessive", "number", "quantity"]


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb; ``present`` holds the French forms for je, il, nous and ils.

    ``particle`` follows the English verb (looks for), ``preposition`` the French one (répond à). ``agents`` and
    ``takes`` are the tags of subjects and objects, ``tenses`` those in which English and French agree one to one.
    """

    base: str
    third: str
    past: str
    infinitive: str
    present: tuple[str, str, str, str]
    participle: str
    agents: frozenset[str] = field(kw_only=True)
    takes: frozenset[str] = field(kw_only=True)
    particle: str = field(kw_only=True)
    preposition: str = field(kw_only=True)
    with_etre: bool = field(kw_only=True)
    together: bool = field(kw_only=True)
    tenses: tuple[Tense, ...] = field(kw_only=True)


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A fixed phrase with one translation, as words: an adverb, a time, a preposition."""

    english: tuple[str, ...]
    french: tuple[str, ...]
