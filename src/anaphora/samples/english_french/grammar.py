"""A phrase grammar that writes random sentences in English and French at once."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anaphora.samples.draws import Draws
from anaphora.samples.english_french import lexicon
from anaphora.samples.english_french.lexicon import Row

Word = tuple[str, tuple[str, ...]]
"""A word with its meanings: words of the two languages that share one are linked."""

_PERSON = "person adult"
_ADVERBS_OF = {"present": ("not", "not", "never", "often", "always"), "past": ("not", "never"), "future": ("not",)}
"""Adverbs by tense."""


class Phrase(NamedTuple):
    """Words of both languages; ``person`` is the index of a subject's verb form, ``tags`` are those of a noun."""

    english: list[Word]
    french: list[Word]
    person: int = 1
    gender: str = "masculine"
    tags: str = _PERSON


class Sentence:
    """One random sentence: its words in both languages, without capitals."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._used: set[str] = set()
        self.english: list[Word] = []
        self.french: list[Word] = []
        if draws.happens(0.12):
            subject = self._subject("opinion", _PERSON, simple=True)
            self._add(subject)
            self._add(_verb_group("think", draws.pick(lexicon.OPINIONS), "present", "", subject))
            self._add(_fixed_phrase("that", "that", "que"))
            self._clause(may_begin_with_time=False)
        else:
            self._clause(may_begin_with_time=True)
        self._add(_fixed_phrase("stop", ".", "."))

    def _add(self, phrase: Phrase) -> None:
        self.english += phrase.english
        self.french += phrase.french

    def _clause(self, *, may_begin_with_time: bool) -> None:
        draws = self._draws
        verb = lexicon.BE if draws.happens(0.2) else draws.pick(lexicon.VERBS)
        tense = draws.pick(("present", "past") if verb is lexicon.BE else (*_ADVERBS_OF, "present", "past"))
        adverb = draws.pick(("not",) if verb is lexicon.BE else _ADVERBS_OF[tense]) if draws.happens(0.35) else ""
        timed = verb is not lexicon.BE and not adverb and draws.happens(0.3)
        time_first = timed and may_begin_with_time and draws.happens(0.4)
        if time_first:
            self._add(self._one_of("time", lexicon.TIMES[tense]))
            self._add(_fixed_phrase("comma", ",", ","))
        described = verb is lexicon.BE and draws.happens(0.6)
        # An adjective, or a participle after être, would show the gender of "I" and "we", which English does not.
        gendered = described or (tense == "past" and verb["etre"] != "")
        subject = self._subject("subject", verb["agents"], first_person=not gendered)
        self._add(subject)
        self._add(_verb_group("verb", verb, tense, adverb, subject))
        if described:
            attributes = {text for text, _ in subject.english}
            fitting = lexicon.sharing("adjectives", subject.tags)
            quality = draws.pick([row for row in fitting if row["english"] not in attributes])
            agreeing = lexicon.form(quality, subject.gender, subject.person > 1)
            self._add(Phrase(_words(quality["english"], "quality"), _words(agreeing, "quality")))
        elif verb is lexicon.BE or not (verb["takes"] or verb["etre"] or draws.happens(0.5)):
            self._add(self._one_of("place", lexicon.PLACES))
            self._add(self._noun_phrase("location", "place"))
        if verb["takes"]:
            self._add(self._object("object", verb["takes"], adverb in lexicon.NEGATIONS and not verb["preposition"]))
        if verb["recipient"]:
            self._add(_fixed_phrase("to", "to", "à"))
            self._add(self._object("recipient", _PERSON))
        if timed and not time_first:
            self._add(self._one_of("time", lexicon.TIMES[tense]))

    def _one_of(self, role: str, phrases: Mapping[str, str]) -> Phrase:
        return _fixed_phrase(role, *self._draws.pick([*phrases.items()]))

    def _subject(self, role: str, tags: str, *, first_person: bool = True, simple: bool = False) -> Phrase:
        if "person" in tags and self._draws.happens(0.3):
            pronouns = lexicon.PRONOUNS if first_person else lexicon.PRONOUNS[:2]
            english, french, person, gender = self._draws.pick(pronouns)
            return Phrase(_words(english, role), _words(french, role), person, gender)
        return self._object(role, tags, simple=simple)

    def _object(self, role: str, tags: str, negated: bool = False, *, simple: bool = False) -> Phrase:
        if "person" in tags and self._draws.happens(0.2):
            return self._name(role)
        return self._noun_phrase(role, tags, negated=negated, simple=simple)

    def _name(self, role: str) -> Phrase:
        name = self._fresh([{"english": name} for name in lexicon.NAMES])["english"]
        return Phrase(_words(name, role), _words(name, role), gender=lexicon.NAMES[name])

    def _noun_phrase(self, role: str, tags: str, *, negated: bool = False, simple: bool = False) -> Phrase:
        """Return a noun with adjectives and an owner or a determiner; a ``simple`` one is singular, without the former.

        The article "a" of a direct object of a ``negated`` verb is de: il n'achète pas de voiture.
        """
        noun = self._fresh(lexicon.sharing("nouns", tags))
        plural = not simple and self._draws.happens(0.35)
        number, person, gender = "english plural" if plural else "english", 3 if plural else 1, noun["gender"]
        english, french = _words(noun[number], role), _words(noun["french plural" if plural else "french"], role)
        for adjective in reversed([] if simple else self._adjectives(noun)):
            meaning, before = f"{role} {adjective['english']}", french[0][0] if adjective["before"] else ""
            english[:0] = _words(adjective["english"], meaning)
            place = 0 if before else len(french)
            french[place:place] = _words(lexicon.form(adjective, gender, plural, before), meaning)
        if not simple and self._draws.happens(0.15):
            meaning = f"{role} owner"
            owner = self._object(meaning, _PERSON, simple=True)
            english = [*owner.english, *_words("'s", f"{meaning} 's"), *english]
            french[:0] = _words(lexicon.form(lexicon.THE, gender, plural), f"{meaning} 's")
            french += [*_words("de", f"{meaning} 's"), *owner.french]
        else:
            determiner = lexicon.THE if self._draws.happens(0.4) else self._draws.pick(lexicon.DETERMINERS[number])
            before, after = determiner[number], lexicon.form(determiner, gender, plural, french[0][0])
            if before == "a":
                before, after = "an" if english[0][0][0] in "aeiouI" else "a", "de" if negated else after
            english[:0] = _words(before, f"{role} determiner")
            french[:0] = _words(after, f"{role} determiner")
        return Phrase(english, french, person, gender, noun["tags"])

    def _adjectives(self, noun: Row) -> list[Row]:
        """Return at most one adjective for either side of the French noun, in the order of English."""
        choices = lexicon.sharing("adjectives", noun["tags"])
        sides = ([row for row in choices if row["before"] == before] for before in ("yes", ""))
        chosen = [self._draws.pick(side) for side in sides if side and self._draws.happens(0.3)]
        return sorted(chosen, key=lexicon.TABLES["adjectives"].index)

    def _fresh(self, choices: Sequence[Row]) -> Row:
        """Return a word that this sentence has not used yet."""
        choice = self._draws.pick([row for row in choices if row["english"] not in self._used])
        self._used.add(choice["english"])
        return choice


def _verb_group(role: str, verb: Row, tense: str, adverb: str, subject: Phrase) -> Phrase:
    """Return a verb with auxiliaries, negation or adverb, and preposition.

    Prepositions of both languages translate each other; a single one is part of the verb (look for, chercher).
    """
    person, past, base = subject.person, tense == "past", _words(verb["base"], role)
    adverbs = _words(adverb, "adverb")
    if tense == "future":
        english = [*_words(lexicon.AM[person], "future"), *adverbs, *_words("going to", "future"), *base]
    elif verb is lexicon.BE:
        english = _words((lexicon.WAS if past else lexicon.AM)[person], role) + adverbs
    elif adverb == "not":
        english = [*_words("did" if past else "does" if person == 1 else "do", role), *adverbs, *base]
    else:
        english = adverbs + _words(verb["past" if past else "third" if person == 1 else "base"], role)
    if tense == "future":
        french = _words(lexicon.VAIS[person], "future") + _words(verb["infinitive"], role)
    elif past and verb is not lexicon.BE:
        agreement = ("e" if subject.gender == "feminine" else "") + ("s" if person > 1 else "") if verb["etre"] else ""
        auxiliary = (lexicon.SUIS if verb["etre"] else lexicon.AI)[person]
        french = _words(auxiliary, role) + _words(verb["participle"] + agreement, role)
    else:
        french = _words((lexicon.ETAIS if past else verb["present"].split())[person], role)
    french[1:1] = _words(lexicon.ADVERBS.get(adverb, ""), "adverb")
    french[:0] = _words("ne" if adverb in lexicon.NEGATIONS else "", "adverb")
    meaning = "preposition" if verb["particle"] and verb["preposition"] else role
    return Phrase(english + _words(verb["particle"], meaning), french + _words(verb["preposition"], meaning))


def _words(text: str, meaning: str) -> list[Word]:
    """Return the words of a text, all with the same meaning."""
    return [(word, (meaning,)) for word in text.split()]


def _fixed_phrase(role: str, english: str, french: str) -> Phrase:
    """Return a fixed phrase, linked word for word if both languages have as many words, else all to all."""
    sides = [_words(english, role), _words(french, role)]
    if len(sides[0]) == len(sides[1]):
        sides = [[(word, (f"{role} {place}",)) for place, (word, _) in enumerate(side)] for side in sides]
    return Phrase(sides[0], sides[1])


def join(words: list[Word]) -> list[Word]:
    """Elide French words before vowels, then contract a preposition with the article that is left."""
    joined: list[Word] = []
    previous = ""
    for place, (text, meanings) in enumerate(words):
        if text in lexicon.ELISIONS and lexicon.VOWEL.match(words[place + 1][0]):
            text = lexicon.ELISIONS[text]
        if (previous, text) in lexicon.CONTRACTIONS:
            text, meanings = lexicon.CONTRACTIONS[previous, text], joined.pop()[1] + meanings
        joined.append((text, meanings))
        previous = text
    return joined
