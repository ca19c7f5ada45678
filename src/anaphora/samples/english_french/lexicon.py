"""The lexicon: ``nouns.tsv``, ``adjectives.tsv``, ``verbs.tsv``, the closed classes, and which words combine.

Every entry has one French reading, so that the translation is a function of the English sentence: no "you" (tu or
vous), no "they" (ils or elles), no verb whose English past looks like its present. Words combine through tags: a verb
takes, and an adjective modifies, the nouns that share a tag with it.
"""

import csv
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from anaphora.samples.english_french.entries import (
    Adjective,
    Determiner,
    DeterminerKind,
    Expression,
    Noun,
    Referent,
    Tense,
    Verb,
)

Entry = TypeVar("Entry", Noun, Adjective, Verb)


def _words(cell: str) -> tuple[str, ...]:
    return tuple(cell.split())


def _tags(cell: str) -> frozenset[str]:
    return frozenset(cell.split())


_COLUMNS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("tags", "agents", "takes"), _tags),
    **dict.fromkeys(("present", "tenses"), _words),
    **dict.fromkeys(("before", "predicate", "graded", "with_etre", "together"), bool),
    "rank": int,
}
"""How the cells of a column are read; as they are in the others."""


def _read(kind: Callable[..., Entry], name: str) -> tuple[Entry, ...]:
    with (files(__package__) / name).open(encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return tuple(kind(**{key: _COLUMNS.get(key, str)(cell) for key, cell in row.items()}) for row in rows)


def _determiner(english: str, forms: str, kind: DeterminerKind) -> Determiner:
    """``forms``: one for all, or masculine/feminine, or these two and the two before a vowel."""
    given = forms.split("/")
    masculine, feminine, masculine_vowel, feminine_vowel = given * (4 // len(given))
    return Determiner(english, masculine, feminine, masculine_vowel, feminine_vowel, kind)


def _expression(english: str, french: str) -> Expression:
    return Expression(_words(english), _words(french))


NOUNS = _read(Noun, "nouns.tsv")
ADJECTIVES = _read(Adjective, "adjectives.tsv")
_VERBS = _read(Verb, "verbs.tsv")
VERBS = {group: tuple(verb for verb in _VERBS if verb.group == group) for group in [verb.group for verb in _VERBS]}
"""Verbs by what may follow them."""

[BE] = VERBS["be"]
WANT, CAN, MUST = VERBS["modal"]
BE_PAST = ("étais", "était", "étions", "étaient")
HAVE_PRESENT = ("ai", "a", "avons", "ont")
GO_PRESENT = VERBS["motion"][0].present
ASPIRATED = frozenset({"hibou", "hiboux"})
"""French words whose h forbids elision; every other initial h is mute."""

NAMES = (
    *(Referent(name, name, 1, "m") for name in ("Paul", "Louis", "Arthur")),
    *(Referent(name, name, 1, "f") for name in ("Marie", "Claire", "Alice")),
)

# English does not show the gender of a speaker: the rules avoid agreement in gender with "I" and "we".
I = Referent("I", "je", 0, "m")  # noqa: E741 - the word itself
HE = Referent("he", "il", 1, "m")
SHE = Referent("she", "elle", 1, "f")
WE = Referent("we", "nous", 2, "m")

THE = _determiner("the", "le/la", "definite")
THE_PLURAL = _determiner("the", "les", "definite")
A = _determiner("a", "un/une", "indefinite")
NOT_A = _determiner("a", "de", "indefinite")
"""The French form of "a" in the object of a negated verb: il n'a pas acheté de voiture."""

_POSSESSIVES = (
    ("my", "mon/ma/mon/mon", "mes"),
    ("his", "son/sa/son/son", "ses"),
    ("her", "son/sa/son/son", "ses"),
    ("our", "notre", "nos"),
)
POSSESSIVES = tuple(_determiner(english, forms, "possessive") for english, forms, _ in _POSSESSIVES)
POSSESSIVES_PLURAL = tuple(_determiner(english, forms, "possessive") for english, _, forms in _POSSESSIVES)
THIS = _determiner("this", "ce/cette/cet/cette", "definite")
THESE = _determiner("these", "ces", "definite")
_NUMBERS = {"two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six", "ten": "dix"}
NUMBERS = tuple(_determiner(english, french, "number") for english, french in _NUMBERS.items())
QUANTITIES = (_determiner("some", "quelques", "quantity"), _determiner("many", "beaucoup de", "quantity"))

FREQUENCIES = (_expression("often", "souvent"), _expression("always", "toujours"))
TIMES: dict[Tense, tuple[Expression, ...]] = {
    "present": (_expression("every day", "chaque jour"),),
    "past": (_expression("yesterday", "hier"), _expression("this morning", "ce matin")),
    "going": (_expression("tomorrow", "demain"), _expression("this evening", "ce soir")),
    "modal": (_expression("tomorrow", "demain"),),
}
_PLACES = {"in": "dans", "behind": "derrière", "in front of": "devant", "near": "près de"}
PLACES = tuple(_expression(english, french) for english, french in _PLACES.items())
TO = _expression("to", "à")
WITH = _expression("with", "avec")


@cache
def nouns(tags: frozenset[str]) -> tuple[Noun, ...]:
    """The nouns that share a tag."""
    return tuple(noun for noun in NOUNS if noun.tags & tags)


@cache
def attributes(noun: Noun, before: bool) -> tuple[Adjective, ...]:
    """The adjectives that may modify a noun, before it or after it in French."""
    return tuple(a for a in ADJECTIVES if a.before == before and a.tags & noun.tags)


@cache
def qualities(tags: frozenset[str], same_in_both_genders: bool) -> tuple[Adjective, ...]:
    """The adjectives that may follow "is" after a subject with these tags."""
    return tuple(
        a
        for a in ADJECTIVES
        if a.predicate and a.tags & tags and (a.masculine == a.feminine or not same_in_both_genders)
    )


@cache
def transitive_verbs(noun: Noun) -> tuple[Verb, ...]:
    """The verbs that may have this noun as their direct object."""
    return tuple(verb for verb in VERBS["transitive"] if verb.takes & noun.tags)
