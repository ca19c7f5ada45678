"""Which words go together: the nouns, adjectives and verbs that make sense together, found once by their tags."""

from functools import cache

from anaphora.data.grammar.entries import Adjective, Noun, Verb
from anaphora.data.grammar.lexicon import ADJECTIVES, NOUNS
from anaphora.data.grammar.verbs import TRANSITIVE

NAMED_PERSON = frozenset({"person", "adult"})
"""The tags of whoever a name or a pronoun stands for."""


@cache
def nouns(tags: frozenset[str]) -> tuple[Noun, ...]:
    """The nouns that share a tag."""
    return tuple(noun for noun in NOUNS if noun.tags & tags)


@cache
def attributes(noun: Noun, before: bool) -> tuple[Adjective, ...]:
    """The adjectives that may stand beside a noun, on the one side or the other in French."""
    return tuple(a for a in ADJECTIVES if a.before == before and a.tags & noun.tags)


@cache
def qualities(tags: frozenset[str], same_in_both_genders: bool) -> tuple[Adjective, ...]:
    """The adjectives that may be said of a subject with these tags."""
    return tuple(
        a
        for a in ADJECTIVES
        if a.predicate and a.tags & tags and (a.masculine == a.feminine or not same_in_both_genders)
    )


@cache
def transitive_verbs(noun: Noun) -> tuple[Verb, ...]:
    """The verbs that may have this noun as their direct object."""
    return tuple(verb for verb in TRANSITIVE if verb.takes & noun.tags)
