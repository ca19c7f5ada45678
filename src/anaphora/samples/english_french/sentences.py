"""Random sentences: verbs and what follows them, tenses, negation, places and times, questions and opinions."""

from typing import Literal

from anaphora.samples.draws import Draws, Weighted
from anaphora.samples.english_french.entries import Adjective, Expression, Tense, Verb
from anaphora.samples.english_french.lexicon import BE, FREQUENCIES, PLACES, TIMES, TO, VERBS, WITH, qualities
from anaphora.samples.english_french.nominals import Nominals, Scope
from anaphora.samples.english_french.phrases import (
    Complement,
    Negation,
    Nominal,
    NounPhrase,
    Opinion,
    Predicate,
    Quality,
    Sentence,
)

Frame = Literal["transitive", "ditransitive", "indirect", "intransitive", "motion", "quality", "whereabouts"]

_FRAMES: dict[Frame, tuple[float, tuple[Verb, ...]]] = {
    "transitive": (8, VERBS["transitive"]),
    "ditransitive": (2, VERBS["ditransitive"]),
    "indirect": (1.5, VERBS["indirect"]),
    "intransitive": (2.5, VERBS["intransitive"] + VERBS["departure"]),
    "motion": (2, VERBS["motion"]),
    "quality": (2.5, (BE,)),
    "whereabouts": (1, (BE,)),
}
"""The weight of each kind of clause, and its verbs."""

_WEIGHTED_FRAMES = Weighted({frame: weight for frame, (weight, _) in _FRAMES.items()})
_TENSES: Weighted[Tense] = Weighted({"present": 4, "past": 3, "going": 1.5, "modal": 1.5})
_PLACE = frozenset({"place"})
_PERSON = frozenset({"person"})
_LOCATED = frozenset({"person", "animal", "clothes", "thing"})
_DESCRIBED = _LOCATED | {"place", "text", "food"}
_NAMED_PERSON = frozenset({"person", "adult"})
"""The tags of a name or a pronoun."""


class Sentences:
    """An endless stream of syntax trees with their templates."""

    def __init__(self, seed: int) -> None:
        self._draws = Draws(seed)
        self._nominals = Nominals(self._draws)

    def draw(self) -> tuple[Sentence, str]:
        """The next tree, and the sequence of its constructions."""
        self._nominals.begin()
        frame = self._draws.weighted(_WEIGHTED_FRAMES)
        verb = self._draws.pick(_FRAMES[frame][1])
        while (tense := self._draws.weighted(_TENSES)) not in verb.tenses:
            pass
        subject = self._subject(frame, verb, tense)
        return self._sentence(subject, self._predicate(frame, verb, tense, subject))

    def _subject(self, frame: Frame, verb: Verb, tense: Tense) -> Nominal:
        tags = _DESCRIBED if frame == "quality" else _LOCATED if frame == "whereabouts" else verb.agents
        # A participle after être would show the gender of "I" and "we", which English does not.
        first_person = not (verb.with_etre and tense == "past")
        return self._nominals.subject(tags, "known" if verb is BE else "any", first_person=first_person)

    def _predicate(self, frame: Frame, verb: Verb, tense: Tense, subject: Nominal) -> Predicate:
        draws = self._draws
        negation: Negation = ""
        adverb: Expression | None = None
        event = verb is not BE and not verb.stative
        if draws.happens(0.26):
            habitual = tense in ("present", "past") and event
            negation = "never" if habitual and draws.happens(0.3) else "not"
        elif tense == "present" and event and draws.happens(0.2):
            adverb = draws.pick(FREQUENCIES)
        modal = draws.pick(VERBS["modal"]) if tense == "modal" else None
        self._nominals.constructions.append(
            " ".join(filter(None, (frame, tense, negation, "adverb" if adverb else "")))
        )
        scope: Scope = "known" if verb.stative else "negated" if negation else "any"
        complements = (self._quality(subject),) if frame == "quality" else self._complements(frame, verb, scope)
        return Predicate(verb, tense, modal, negation, adverb, complements)

    def _quality(self, subject: Nominal) -> Quality:
        tags, used = _NAMED_PERSON, tuple[Adjective, ...]()
        if isinstance(subject, NounPhrase):
            tags, used = subject.noun.tags, subject.adjectives
        hidden = subject.agreement.person in (0, 2)
        ranks = {adjective.rank for adjective in used}
        choices = [a for a in qualities(tags, hidden) if a.rank not in ranks]
        adjective = self._draws.pick(choices or qualities(tags, hidden))
        very = adjective.graded and self._draws.happens(0.25)
        self._nominals.constructions.append("very adjective" if very else "adjective")
        return Quality(adjective, very)

    def _complements(self, frame: Frame, verb: Verb, scope: Scope) -> tuple[Complement, ...]:
        nominals, draws = self._nominals, self._draws
        complements: list[Complement] = []
        match frame:
            case "whereabouts":
                return (self._place(),)
            case "ditransitive":
                complements.append(Complement(nominals.described(verb.takes, "object", scope)))
                complements.append(Complement(nominals.complement(_PERSON, "recipient"), TO))
            case "indirect":
                complements.append(Complement(nominals.complement(verb.takes, verb.preposition)))
            case "motion":
                complements.append(Complement(nominals.described(verb.takes, verb.preposition)))
            case "transitive":
                complements.append(Complement(nominals.complement(verb.takes, "object", scope)))
        if verb.together and draws.happens(0.2):
            complements.append(Complement(nominals.complement(_PERSON, "with"), WITH))
        elif draws.happens(_place_probability(frame, verb)):
            complements.append(self._place())
        return tuple(complements)

    def _place(self) -> Complement:
        return Complement(self._nominals.described(_PLACE, "place", "known"), self._draws.pick(PLACES))

    def _time(self, predicate: Predicate) -> Expression | None:
        """A time, unless the rest of the sentence makes that unnatural."""
        verb, tense = predicate.verb, predicate.tense
        usual = tense == "present" and (predicate.negation or predicate.adverb)
        unnatural = verb is BE or verb.stative or usual or predicate.negation == "never"
        if unnatural or self._nominals.has_relative or not self._draws.happens(0.27):
            return None
        return self._draws.pick(TIMES[tense])

    def _sentence(self, subject: Nominal, predicate: Predicate) -> tuple[Sentence, str]:
        """The sentence around a clause, with its template."""
        draws, constructions = self._draws, self._nominals.constructions
        inner = len(constructions)
        time = self._time(predicate)
        third_person = subject.agreement.person in (1, 3)
        opinion: Opinion | None = None
        time_first = question = False
        if third_person and not predicate.negation and draws.happens(0.14):
            question = True
            constructions.append("question")
        elif draws.happens(0.12):
            constructions.append("opinion")
            opinion = Opinion(self._nominals.simple_subject(), draws.pick(VERBS["opinion"]))
        elif time and draws.happens(0.4):
            time_first = True
            constructions.append("time first")
        ending = ["time last"] if time and not time_first else []
        template = " | ".join((*constructions[inner:], *constructions[:inner], *ending))
        return Sentence(subject, predicate, question, opinion, time, time_first), template


def _place_probability(frame: Frame, verb: Verb) -> float:
    if frame == "transitive" and "place" not in verb.takes and not verb.stative:
        return 0.15
    return 0.5 if frame == "intransitive" and not verb.with_etre else 0.0
