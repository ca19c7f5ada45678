"""The rules of noun phrases: who and what a sentence may speak of, and how it is described."""

from typing import Literal

from anaphora.data.grammar import collocations
from anaphora.data.grammar.draws import Chances, Weighted
from anaphora.data.grammar.entries import Adjective, Determiner, Name, Noun, Tense, Verb
from anaphora.data.grammar.lexicon import (
    HE,
    NAMES,
    NUMBERS,
    POSSESSIVES,
    POSSESSIVES_PLURAL,
    QUANTITIES,
    SHE,
    THE,
    THE_PLURAL,
    THESE,
    THIS,
    WE,
    A,
    I,
)
from anaphora.data.grammar.phrases import (
    Complement,
    Coordination,
    NamePhrase,
    Nominal,
    NounPhrase,
    ObjectRelative,
    Predicate,
    PronounPhrase,
    SubjectRelative,
)
from anaphora.data.grammar.verbs import INTRANSITIVE, TRANSITIVE

Scope = Literal["any", "negated", "known"]
"""Which determiners are natural: any, those under a negation (no quantities), or those of what is already known."""

_PERSON = frozenset({"person"})
_SINGULAR: dict[Scope, dict[Determiner, float]] = {
    "any": {THE: 6, A: 4, THIS: 2},
    "negated": {THE: 5, A: 5, THIS: 2},
    "known": {THE: 6, THIS: 3},
}
_PLURAL: dict[Scope, dict[Determiner, float]] = {
    "any": {THE_PLURAL: 4, THESE: 2, **dict.fromkeys((*NUMBERS, *QUANTITIES), 0.6)},
    "negated": {THE_PLURAL: 5, THESE: 2},
    "known": {THE_PLURAL: 5, THESE: 3},
}


def _choices(scope: Scope, plural: bool, owned: bool) -> Weighted[Determiner]:
    weights = (_PLURAL if plural else _SINGULAR)[scope]
    possessives = POSSESSIVES_PLURAL if plural else POSSESSIVES
    return Weighted({**weights, **dict.fromkeys(possessives if owned else (), 1.2)})


_SCOPES: tuple[Scope, ...] = ("any", "negated", "known")
_BOTH = (False, True)
_DETERMINERS = {(s, plural, owned): _choices(s, plural, owned) for s in _SCOPES for plural in _BOTH for owned in _BOTH}
_PRONOUNS = Weighted({HE: 3, SHE: 3, I: 2, WE: 1.5})
_THIRD_PERSON_PRONOUNS = (HE, SHE)
_RELATIVE_TENSES: tuple[Tense, ...] = ("past", "past", "present")


class Nominals:
    """Draws the noun phrases of one sentence at a time, naming each noun once and nesting relatives once."""

    def __init__(self, chances: Chances) -> None:
        self._chances = chances
        self._named: set[Noun | Name] = set()
        self._nested = False

    def begin(self) -> None:
        """Forget the sentence before."""
        self._named.clear()
        self._nested = False

    @property
    def nested(self) -> bool:
        """Whether this sentence has its relative clause."""
        return self._nested

    def subject(self, tags: frozenset[str], units: list[str], scope: Scope, *, first_person: bool) -> Nominal:
        """Who does or is something."""
        chances = self._chances
        if "person" in tags:
            if chances.happens(0.28):
                units.append("subject pronoun")
                return self._pronoun(first_person)
            if chances.happens(0.2):
                units.append("subject name")
                return self._name()
            if chances.happens(0.08):
                return self._coordination(units)
        return self.described(tags, "subject", units, scope)

    def simple_subject(self, units: list[str]) -> Nominal:
        """Who does something inside a relative clause, or says what the sentence tells."""
        chances = self._chances
        if chances.happens(0.4):
            units.append("pronoun")
            return self._pronoun(first_person=True)
        if chances.happens(0.5):
            units.append("name")
            return self._name()
        return self.plain(_PERSON, "", units)

    def complement(self, tags: frozenset[str], role: str, units: list[str], scope: Scope = "any") -> Nominal:
        """Whom or what a verb or a preposition governs."""
        if "person" in tags and self._chances.happens(0.2):
            units.append(f"{role} name")
            return self._name()
        return self.described(tags, role, units, scope)

    def plain(self, tags: frozenset[str], role: str, units: list[str], scope: Scope = "any") -> NounPhrase:
        """A determiner and a noun."""
        noun = self._noun(tags)
        units.append(f"{role} determiner noun".lstrip())
        plural = self._plural(noun)
        return NounPhrase(self._determiner(noun, plural, scope), (), noun, plural)

    def described(self, tags: frozenset[str], role: str, units: list[str], scope: Scope = "any") -> NounPhrase:
        """A noun phrase with what its noun allows: an owner, adjectives, a relative clause."""
        chances = self._chances
        noun = self._noun(tags)
        plural = self._plural(noun)
        adjectives, pattern = self._adjectives(noun)
        if "owned" in noun.tags and chances.happens(0.14):
            units.append(f"{role} {pattern} of owner")
            return NounPhrase(THE_PLURAL if plural else THE, adjectives, noun, plural, owner=self._owner(units))
        determiner = self._determiner(noun, plural, scope)
        kind = determiner.kind if determiner.kind in ("number", "quantity") else "determiner"
        units.append(f"{role} {kind} {pattern}")
        # What does not exist is not described ("does not see a cat that sleeps" would need a subjunctive), and what is
        # somebody's needs no describing.
        plain = (scope == "negated" and determiner is A) or determiner.kind == "possessive"
        relative = None
        if not plain and not self._nested and chances.happens(0.22):
            self._nested = True
            relative = self._relative(noun, units)
        return NounPhrase(determiner, adjectives, noun, plural, relative=relative)

    def _adjectives(self, noun: Noun) -> tuple[tuple[Adjective, ...], str]:
        """Adjectives in English order, and the pattern of the phrase in French order."""
        chances = self._chances
        before = after = None
        if (choices := collocations.attributes(noun, True)) and chances.happens(0.25):
            before = chances.pick(choices)
        if (choices := collocations.attributes(noun, False)) and chances.happens(0.3):
            after = chances.pick(choices)
        if before and after and before.rank == after.rank:
            after = None
        chosen = [adjective for adjective in (before, after) if adjective]
        pattern = ("adjective " if before else "") + "noun" + (" adjective" if after else "")
        return tuple(sorted(chosen, key=lambda adjective: adjective.rank)), pattern

    def _relative(self, noun: Noun, units: list[str]) -> SubjectRelative | ObjectRelative:
        chances = self._chances
        alive = bool(noun.tags & {"person", "animal"})
        verbs = collocations.transitive_verbs(noun)
        if verbs and (not alive or chances.happens(0.4)):
            verb = chances.pick(verbs)
            tense, negation = self._relative_verb(verb)
            units.append(f"object relative {tense} {negation}".rstrip())
            return ObjectRelative(self.simple_subject(units), Predicate(verb, tense, negation=negation))
        frame = INTRANSITIVE if chances.happens(0.5) else TRANSITIVE
        verb = chances.pick([verb for verb in frame if verb.agents & noun.tags])
        tense, negation = self._relative_verb(verb)
        units.append(f"subject relative {tense} {negation}".rstrip())
        if frame is INTRANSITIVE:
            return SubjectRelative(Predicate(verb, tense, negation=negation))
        scope: Scope = "known" if verb.tenses == ("present",) else "negated" if negation else "any"
        complement = Complement(self.plain(verb.takes, "relative object", units, scope))
        return SubjectRelative(Predicate(verb, tense, negation=negation, complements=(complement,)))

    def _relative_verb(self, verb: Verb) -> tuple[Tense, Literal["", "not"]]:
        tense = self._chances.pick([tense for tense in _RELATIVE_TENSES if tense in verb.tenses])
        return tense, ("not" if self._chances.happens(0.15) else "")

    def _coordination(self, units: list[str]) -> Coordination:
        if self._chances.happens(0.6):
            units.append("subject name and name")
            return Coordination(self._name(), self._name())
        units.append("subject noun and noun")
        return Coordination(self._person(), self._person())

    def _person(self) -> NounPhrase:
        noun = self._noun(_PERSON)
        return NounPhrase(self._determiner(noun, False, "known"), (), noun, False)

    def _owner(self, units: list[str]) -> Nominal:
        if self._chances.happens(0.6):
            units.append("name")
            return self._name()
        units.append("person")
        return self._person()

    def _pronoun(self, first_person: bool) -> PronounPhrase:
        if first_person:
            return PronounPhrase(self._chances.weigh(_PRONOUNS))
        return PronounPhrase(self._chances.pick(_THIRD_PERSON_PRONOUNS))

    def _name(self) -> NamePhrase:
        while (name := self._chances.pick(NAMES)) in self._named:
            pass
        self._named.add(name)
        return NamePhrase(name)

    def _noun(self, tags: frozenset[str]) -> Noun:
        choices = collocations.nouns(tags)
        while (noun := self._chances.pick(choices)) in self._named:
            pass
        self._named.add(noun)
        return noun

    def _plural(self, noun: Noun) -> bool:
        return "single" not in noun.tags and self._chances.happens(0.2 if "kin" in noun.tags else 0.35)

    def _determiner(self, noun: Noun, plural: bool, scope: Scope) -> Determiner:
        if "kin" in noun.tags:
            return self._chances.pick(POSSESSIVES_PLURAL if plural else POSSESSIVES)
        return self._chances.weigh(_DETERMINERS[scope, plural, "owned" in noun.tags])
