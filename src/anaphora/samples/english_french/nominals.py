"""Random noun phrases: which subjects and objects a sentence has, and their modifiers."""

from collections.abc import Sequence
from typing import Literal, TypeVar

from anaphora.samples.draws import Draws, Weighted
from anaphora.samples.english_french import lexicon
from anaphora.samples.english_french.entries import Adjective, Determiner, Noun, Referent, Tense, Verb
from anaphora.samples.english_french.lexicon import NUMBERS, POSSESSIVES, POSSESSIVES_PLURAL, QUANTITIES, VERBS
from anaphora.samples.english_french.phrases import (
    Bare,
    Complement,
    Coordination,
    Negation,
    Nominal,
    NounPhrase,
    Predicate,
    Relative,
)

Scope = Literal["any", "negated", "known"]
"""Which determiners are natural: all, those in a negated clause (no quantities), or definite ones."""

Named = TypeVar("Named", Noun, Referent)

_PERSON = frozenset({"person"})
_SINGULAR: dict[Scope, dict[Determiner, float]] = {
    "any": {lexicon.THE: 6, lexicon.A: 4, lexicon.THIS: 2},
    "negated": {lexicon.THE: 5, lexicon.A: 5, lexicon.THIS: 2},
    "known": {lexicon.THE: 6, lexicon.THIS: 3},
}
_PLURAL: dict[Scope, dict[Determiner, float]] = {
    "any": {lexicon.THE_PLURAL: 4, lexicon.THESE: 2, **dict.fromkeys((*NUMBERS, *QUANTITIES), 0.6)},
    "negated": {lexicon.THE_PLURAL: 5, lexicon.THESE: 2},
    "known": {lexicon.THE_PLURAL: 5, lexicon.THESE: 3},
}
_DETERMINERS = {
    (scope, plural, owned): Weighted({**weights, **dict.fromkeys(possessives if owned else (), 1.2)})
    for plural, scopes, possessives in ((False, _SINGULAR, POSSESSIVES), (True, _PLURAL, POSSESSIVES_PLURAL))
    for scope, weights in scopes.items()
    for owned in (False, True)
}
_PRONOUNS = Weighted({lexicon.HE: 3, lexicon.SHE: 3, lexicon.I: 2, lexicon.WE: 1.5})
_RELATIVE_TENSES: tuple[Tense, ...] = ("past", "past", "present")


class Nominals:
    """Draws the noun phrases of one sentence at a time; each noun occurs once, and relative clauses do not nest."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._named: set[Noun | Referent] = set()
        self.constructions: list[str] = []
        """What was drawn for this sentence, in order."""
        self.has_relative = False
        """Whether this sentence has a relative clause."""

    def begin(self) -> None:
        """Begin a new sentence."""
        self._named.clear()
        self.constructions = []
        self.has_relative = False

    def subject(self, tags: frozenset[str], scope: Scope, *, first_person: bool) -> Nominal:
        """The subject of a main clause."""
        if "person" in tags:
            if self._draws.happens(0.28):
                return self._pronoun("subject pronoun", first_person)
            if self._draws.happens(0.2):
                return self._name("subject name")
            if self._draws.happens(0.08):
                return self._coordination()
        return self.described(tags, "subject", scope)

    def simple_subject(self) -> Nominal:
        """The subject of a relative clause or of an opinion."""
        if self._draws.happens(0.4):
            return self._pronoun("pronoun", first_person=True)
        if self._draws.happens(0.5):
            return self._name("name")
        return self._plain(_PERSON, "determiner noun", "any")

    def complement(self, tags: frozenset[str], role: str, scope: Scope = "any") -> Nominal:
        """The object of a verb or of a preposition."""
        if "person" in tags and self._draws.happens(0.2):
            return self._name(f"{role} name")
        return self.described(tags, role, scope)

    def described(self, tags: frozenset[str], role: str, scope: Scope = "any") -> NounPhrase:
        """A noun phrase with modifiers that the noun allows: an owner, adjectives, a relative clause."""
        noun = self._fresh(lexicon.nouns(tags))
        plural = self._plural(noun)
        adjectives, pattern = self._adjectives(noun)
        if "owned" in noun.tags and self._draws.happens(0.14):
            self.constructions.append(f"{role} {pattern} of owner")
            determiner = lexicon.THE_PLURAL if plural else lexicon.THE
            return NounPhrase(determiner, adjectives, noun, plural, owner=self._owner())
        determiner = self._determiner(noun, plural, scope)
        kind = determiner.kind if determiner.kind in ("number", "quantity") else "determiner"
        self.constructions.append(f"{role} {kind} {pattern}")
        # What does not exist has no relative clause ("does not see a cat that sleeps" would need a subjunctive), and
        # a possessive needs none.
        plain = (scope == "negated" and determiner is lexicon.A) or determiner.kind == "possessive"
        relative = None
        if not plain and not self.has_relative and self._draws.happens(0.22):
            self.has_relative = True
            relative = self._relative(noun)
        return NounPhrase(determiner, adjectives, noun, plural, relative=relative)

    def _plain(self, tags: frozenset[str], construction: str, scope: Scope) -> NounPhrase:
        noun = self._fresh(lexicon.nouns(tags))
        self.constructions.append(construction)
        plural = self._plural(noun)
        return NounPhrase(self._determiner(noun, plural, scope), (), noun, plural)

    def _adjectives(self, noun: Noun) -> tuple[tuple[Adjective, ...], str]:
        """Adjectives in English order, and the pattern of the phrase in French order."""
        before = after = None
        if (choices := lexicon.attributes(noun, True)) and self._draws.happens(0.25):
            before = self._draws.pick(choices)
        if (choices := lexicon.attributes(noun, False)) and self._draws.happens(0.3):
            after = self._draws.pick(choices)
        if before and after and before.rank == after.rank:
            after = None
        chosen = [adjective for adjective in (before, after) if adjective]
        pattern = ("adjective " if before else "") + "noun" + (" adjective" if after else "")
        return tuple(sorted(chosen, key=lambda adjective: adjective.rank)), pattern

    def _relative(self, noun: Noun) -> Relative:
        alive = bool(noun.tags & {"person", "animal"})
        verbs = lexicon.transitive_verbs(noun)
        if verbs and (not alive or self._draws.happens(0.4)):
            verb = self._draws.pick(verbs)
            tense, negation = self._relative_verb("object", verb)
            subject = self.simple_subject()
            return Relative(Predicate(verb, tense, negation=negation), subject)
        group = "intransitive" if self._draws.happens(0.5) else "transitive"
        verb = self._draws.pick([verb for verb in VERBS[group] if verb.agents & noun.tags])
        tense, negation = self._relative_verb("subject", verb)
        if group == "intransitive":
            return Relative(Predicate(verb, tense, negation=negation))
        scope: Scope = "known" if verb.stative else "negated" if negation else "any"
        complement = Complement(self._plain(verb.takes, "relative object determiner noun", scope))
        return Relative(Predicate(verb, tense, negation=negation, complements=(complement,)))

    def _relative_verb(self, role: str, verb: Verb) -> tuple[Tense, Negation]:
        tense = self._draws.pick([tense for tense in _RELATIVE_TENSES if tense in verb.tenses])
        negation: Negation = "not" if self._draws.happens(0.15) else ""
        self.constructions.append(f"{role} relative {tense} {negation}".rstrip())
        return tense, negation

    def _coordination(self) -> Coordination:
        if self._draws.happens(0.6):
            return Coordination(self._name("subject name and name"), self._name())
        return Coordination(self._person("subject noun and noun"), self._person())

    def _owner(self) -> Nominal:
        return self._name("name") if self._draws.happens(0.6) else self._person("person")

    def _person(self, *construction: str) -> NounPhrase:
        self.constructions += construction
        noun = self._fresh(lexicon.nouns(_PERSON))
        return NounPhrase(self._determiner(noun, False, "known"), (), noun, False)

    def _pronoun(self, construction: str, first_person: bool) -> Bare:
        self.constructions.append(construction)
        third = lexicon.HE, lexicon.SHE
        return Bare(self._draws.weighted(_PRONOUNS) if first_person else self._draws.pick(third))

    def _name(self, *construction: str) -> Bare:
        self.constructions += construction
        return Bare(self._fresh(lexicon.NAMES))

    def _fresh(self, choices: Sequence[Named]) -> Named:
        """One that this sentence has not used yet."""
        while (choice := self._draws.pick(choices)) in self._named:
            pass
        self._named.add(choice)
        return choice

    def _plural(self, noun: Noun) -> bool:
        return "single" not in noun.tags and self._draws.happens(0.2 if "kin" in noun.tags else 0.35)

    def _determiner(self, noun: Noun, plural: bool, scope: Scope) -> Determiner:
        if "kin" in noun.tags:
            return self._draws.pick(POSSESSIVES_PLURAL if plural else POSSESSIVES)
        return self._draws.weighted(_DETERMINERS[scope, plural, "owned" in noun.tags])
