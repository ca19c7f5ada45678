"""French grammar: word order, agreement in gender, number and person, negation in two parts."""

from anaphora.samples.english_french.entries import Adjective, Determiner, Noun, Verb
from anaphora.samples.english_french.grammar import Grammar
from anaphora.samples.english_french.lexicon import BE, BE_PAST, GO_PRESENT, HAVE_PRESENT, NOT_A, A
from anaphora.samples.english_french.phrases import (
    Agreement,
    Nominal,
    NounPhrase,
    Predicate,
    Relative,
    Sentence,
    Word,
    word,
)
from anaphora.samples.english_french.sandhi import begins_with_vowel


class French(Grammar):
    """French sentences in full form: no elision, no contraction."""

    language = "french"
    conjunction, complementiser, intensifier = "et", "que", "très"

    def present(self, verb: Verb, agreement: Agreement) -> str:
        """The form of the person."""
        return verb.present[agreement.person]

    def question(self, sentence: Sentence) -> list[Word]:
        """Est-ce que and a statement."""
        opener = [word("est-ce", sentence, "question"), word("que", sentence, "question")]
        return opener + self.clause(sentence.subject, sentence.predicate)

    def noun_phrase(self, phrase: NounPhrase) -> list[Word]:
        """Some adjectives precede the noun, an owner follows it."""
        return self._noun_phrase(phrase, phrase.determiner)

    def _noun_phrase(self, phrase: NounPhrase, determiner: Determiner) -> list[Word]:
        agreement = phrase.agreement
        noun = phrase.noun.french_plural if phrase.plural else phrase.noun.french
        words = [word(noun, phrase, "noun")]
        for adjective in phrase.adjectives:
            if adjective.before:
                words.insert(0, word(_agree(adjective, agreement, before=noun), phrase, "before"))
            else:
                words.append(word(_agree(adjective, agreement), phrase, "after"))
        forms = _determine(determiner, agreement, before=words[0][0]).split()
        words = [*(word(form, phrase, "owner" if phrase.owner else "determiner") for form in forms), *words]
        if phrase.owner:
            words += [word("de", phrase, "owner"), *self.nominal(phrase.owner)]
        return words + self.relative(phrase)

    def relative_pronoun(self, noun: Noun, relative: Relative) -> str:
        """Qui for a subject, que for an object."""
        return "que" if relative.subject else "qui"

    def quality(self, adjective: Adjective, agreement: Agreement) -> str:
        """Adjectives agree with the subject."""
        return _agree(adjective, agreement)

    def governed(self, nominal: Nominal, predicate: Predicate) -> list[Word]:
        """A negated verb turns the indefinite article of its direct object into de."""
        if isinstance(nominal, NounPhrase) and nominal.determiner is A:
            return self._noun_phrase(nominal, NOT_A if predicate.negation and not predicate.verb.preposition else A)
        return self.nominal(nominal)

    def verb_group(self, predicate: Predicate, agreement: Agreement, before: Agreement | None) -> list[Word]:
        """The negation surrounds the finite verb; an adverb follows it.

        A participle agrees with the subject after être and with a direct object that precedes it after avoir.
        """
        verb, person = predicate.verb, agreement.person
        role = "auxiliary" if predicate.tense in ("going", "modal") else "verb"
        rest = ""
        if predicate.tense == "going":
            finite, rest = GO_PRESENT[person], verb.infinitive
        elif predicate.modal:
            finite, rest = predicate.modal.present[person], verb.infinitive
        elif verb is BE and predicate.tense == "past":
            finite = BE_PAST[person]
        elif predicate.tense == "past":
            finite = (BE.present if verb.with_etre else HAVE_PRESENT)[person]
            rest = _participle(verb.participle, agreement if verb.with_etre else before)
        else:
            finite = verb.present[person]
        words = [word(finite, predicate, role)]
        if predicate.negation:
            words.insert(0, word("ne", predicate, "not"))
            words.append(word("pas" if predicate.negation == "not" else "jamais", predicate, "not"))
        if predicate.adverb:
            words += self.fixed(predicate.adverb, predicate, "adverb")
        if rest:
            words.append(word(rest, predicate, "verb"))
        if verb.preposition:
            # Without a particle in English, the preposition is part of the verb's meaning (answer, répondre à).
            words.append(word(verb.preposition, predicate, "preposition" if verb.particle else "verb"))
        return words


def _agree(adjective: Adjective, agreement: Agreement, before: str = "") -> str:
    """The form of an adjective; ``before`` is the word that it precedes, if any (un vieil homme)."""
    if agreement.gender == "f":
        return adjective.feminine_plural if agreement.plural else adjective.feminine
    if agreement.plural:
        return adjective.masculine_plural
    return adjective.liaison if before and begins_with_vowel(before) else adjective.masculine


def _determine(determiner: Determiner, agreement: Agreement, before: str) -> str:
    """The form of a determiner before a word (cet homme, mon écharpe)."""
    if begins_with_vowel(before):
        return determiner.masculine_vowel if agreement.gender == "m" else determiner.feminine_vowel
    return determiner.masculine if agreement.gender == "m" else determiner.feminine


def _participle(masculine: str, controller: Agreement | None) -> str:
    if controller is None:
        return masculine
    return masculine + ("e" if controller.gender == "f" else "") + ("s" if controller.plural else "")
