"""The rules of sentences: frames, tenses, negation, places and times, questions and opinions."""

from typing import Literal

from anaphora.data.grammar import collocations
from anaphora.data.grammar.draws import Chances, Weighted
from anaphora.data.grammar.entries import Adjective, Expression, Tense, Verb
from anaphora.data.grammar.lexicon import FREQUENCIES, PLACES, TIMES, TO, WITH
from anaphora.data.grammar.nominals import Nominals, Scope
from anaphora.data.grammar.phrases import (
    Complement,
    Nominal,
    NounPhrase,
    Opinion,
    Predicate,
    PronounPhrase,
    Quality,
    Sentence,
)
from anaphora.data.grammar.verbs import (
    BE,
    DEPARTURE,
    DITRANSITIVE,
    INDIRECT,
    INTRANSITIVE,
    MODALS,
    MOTION,
    OPINIONS,
    PRESENT,
    TRANSITIVE,
)

Frame = Literal["quality", "whereabouts", "transitive", "ditransitive", "indirect", "intransitive", "motion"]

_FRAMES: Weighted[Frame] = Weighted(
    {
        "transitive": 8,
        "ditransitive": 2,
        "indirect": 1.5,
        "intransitive": 2.5,
        "motion": 2,
        "quality": 2.5,
        "whereabouts": 1,
    }
)
_VERBS: dict[Frame, tuple[Verb, ...]] = {
    "transitive": TRANSITIVE,
    "ditransitive": DITRANSITIVE,
    "indirect": INDIRECT,
    "intransitive": INTRANSITIVE + DEPARTURE,
    "motion": MOTION,
    "quality": (BE,),
    "whereabouts": (BE,),
}
_TENSES: Weighted[Tense] = Weighted({"present": 4, "past": 3, "going": 1.5, "modal": 1.5})
_PLACE = frozenset({"place"})
_PERSON = frozenset({"person"})
_LOCATED = frozenset({"person", "animal", "clothes", "thing"})
_DESCRIBED = _LOCATED | {"place", "text", "food"}


class Sentences:
    """An endless stream of trees with their templates; ``draw`` gives the next."""

    def __init__(self, seed: int) -> None:
        self._chances = Chances(seed)
        self._nominals = Nominals(self._chances)

    def draw(self) -> tuple[Sentence, str]:
        """The next tree and the sequence of its constructions."""
        self._nominals.begin()
        chances, units = self._chances, list[str]()
        frame = chances.weigh(_FRAMES)
        verb = chances.pick(_VERBS[frame])
        while (tense := chances.weigh(_TENSES)) not in verb.tenses:
            pass
        subject = self._subject(frame, verb, tense, units)
        predicate = self._predicate(frame, verb, tense, subject, units)
        return self._setting(subject, predicate, units)

    def _subject(self, frame: Frame, verb: Verb, tense: Tense, units: list[str]) -> Nominal:
        tags = _DESCRIBED if frame == "quality" else _LOCATED if frame == "whereabouts" else verb.agents
        # A participle after être would show the gender of "I" and "we", which English does not.
        first_person = not (verb.with_etre and tense == "past")
        return self._nominals.subject(tags, units, "known" if verb is BE else "any", first_person=first_person)

    def _predicate(self, frame: Frame, verb: Verb, tense: Tense, subject: Nominal, units: list[str]) -> Predicate:
        chances = self._chances
        negation: Literal["", "not", "never"] = ""
        adverb: Expression | None = None
        if chances.happens(0.26):
            habitual = tense in ("present", "past") and verb is not BE and verb.tenses != PRESENT
            negation = "never" if habitual and chances.happens(0.3) else "not"
        elif tense == "present" and verb is not BE and verb.tenses != PRESENT and chances.happens(0.2):
            adverb = chances.pick(FREQUENCIES)
        modal = chances.pick(MODALS) if tense == "modal" else None
        units.append(" ".join(filter(None, (frame, tense, negation, "adverb" if adverb else ""))))
        scope: Scope = "known" if verb.tenses == PRESENT else "negated" if negation else "any"
        if frame == "quality":
            complements: tuple[Complement | Quality, ...] = (self._quality(subject, units),)
        else:
            complements = self._complements(frame, verb, scope, units)
        return Predicate(verb, tense, modal, negation, adverb, complements)

    def _quality(self, subject: Nominal, units: list[str]) -> Quality:
        tags = collocations.NAMED_PERSON
        used: tuple[Adjective, ...] = ()
        if isinstance(subject, NounPhrase):
            tags, used = subject.noun.tags, subject.adjectives
        hidden = isinstance(subject, PronounPhrase) and subject.agreement.person in (0, 2)
        ranks = {adjective.rank for adjective in used}
        choices = [a for a in collocations.qualities(tags, hidden) if a.rank not in ranks]
        adjective = self._chances.pick(choices or collocations.qualities(tags, hidden))
        very = adjective.graded and self._chances.happens(0.25)
        units.append("very adjective" if very else "adjective")
        return Quality(adjective, very)

    def _complements(self, frame: Frame, verb: Verb, scope: Scope, units: list[str]) -> tuple[Complement, ...]:
        nominals, chances = self._nominals, self._chances
        if frame == "whereabouts":
            return (self._place(units),)
        complements: list[Complement] = []
        if frame == "ditransitive":
            complements.append(Complement(nominals.described(verb.takes, "object", units, scope)))
            complements.append(Complement(nominals.complement(_PERSON, "recipient", units), TO))
        elif frame == "indirect":
            complements.append(Complement(nominals.complement(verb.takes, verb.preposition, units, "any")))
        elif frame == "motion":
            complements.append(Complement(nominals.described(verb.takes, verb.preposition, units, "any")))
        elif frame == "transitive":
            complements.append(Complement(nominals.complement(verb.takes, "object", units, scope)))
        if verb.together and chances.happens(0.2):
            complements.append(Complement(nominals.complement(_PERSON, "with", units), WITH))
        elif chances.happens(self._located(frame, verb)):
            complements.append(self._place(units))
        return tuple(complements)

    def _located(self, frame: Frame, verb: Verb) -> float:
        """How likely a place is to follow."""
        if frame == "transitive" and "place" not in verb.takes and verb.tenses != PRESENT:
            return 0.15
        return 0.5 if frame == "intransitive" and not verb.with_etre else 0.0

    def _place(self, units: list[str]) -> Complement:
        return Complement(self._nominals.described(_PLACE, "place", units, "known"), self._chances.pick(PLACES))

    def _time(self, predicate: Predicate) -> Expression | None:
        """When it happens, if the sentence says so and nothing in it makes that odd."""
        verb, tense = predicate.verb, predicate.tense
        usual = tense == "present" and (predicate.negation or predicate.adverb)
        state = verb is BE or verb.tenses == PRESENT
        if state or usual or predicate.negation == "never" or self._nominals.nested or not self._chances.happens(0.27):
            return None
        return self._chances.pick(TIMES[tense])

    def _setting(self, subject: Nominal, predicate: Predicate, units: list[str]) -> tuple[Sentence, str]:
        """The sentence around a clause, with its template."""
        chances = self._chances
        time = self._time(predicate)
        third_person = subject.agreement.person in (1, 3)
        opening: list[str] = []
        opinion: Opinion | None = None
        time_first = question = False
        if third_person and not predicate.negation and chances.happens(0.14):
            question = True
            opening.append("question")
        elif chances.happens(0.12):
            opening.append("opinion")
            opinion = Opinion(self._nominals.simple_subject(opening), chances.pick(OPINIONS))
        elif time and chances.happens(0.4):
            time_first = True
            opening.append("time first")
        ending = ["time last"] if time and not time_first else []
        sentence = Sentence(subject, predicate, question, opinion, time, time_first)
        return sentence, " | ".join((*opening, *units, *ending))
