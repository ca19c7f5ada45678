"""English grammar: word order, the auxiliary do, the genitive, a or an."""

from anaphora.samples.english_french.entries import Adjective, Noun, Verb
from anaphora.samples.english_french.grammar import Grammar
from anaphora.samples.english_french.lexicon import BE, CAN, MUST, A
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

_BE_PRESENT = ("am", "is", "are", "are")
_BE_PAST = ("was", "was", "were", "were")


class English(Grammar):
    """English sentences."""

    language = "english"
    conjunction, complementiser, intensifier = "and", "that", "very"

    def present(self, verb: Verb, agreement: Agreement) -> str:
        """The third person singular has a form of its own."""
        return verb.third if agreement.person == 1 else verb.base

    def question(self, sentence: Sentence) -> list[Word]:
        """The auxiliary comes first and carries the question beside its own meaning."""
        predicate, agreement = sentence.predicate, sentence.subject.agreement
        (form, meanings), *group = self._verb_group(predicate, agreement, question=True)
        opener = (form, (*meanings, (sentence, "question")))
        return [opener, *self.nominal(sentence.subject), *group, *self.complements(predicate, agreement)]

    def noun_phrase(self, phrase: NounPhrase) -> list[Word]:
        """Adjectives precede the noun; an owner takes the determiner's place."""
        noun = phrase.noun.english_plural if phrase.plural else phrase.noun.english
        words = [word(a.english, phrase, "before" if a.before else "after") for a in phrase.adjectives]
        words.append(word(noun, phrase, "noun"))
        if phrase.owner:
            words = [*self.nominal(phrase.owner), word("'s", phrase, "owner"), *words]
        else:
            an = phrase.determiner is A and words[0][0][0] in "aeiouAEIOU"
            words.insert(0, word("an" if an else phrase.determiner.english, phrase, "determiner"))
        return words + self.relative(phrase)

    def relative_pronoun(self, noun: Noun, relative: Relative) -> str:
        """Who and whom for persons, else that."""
        return "that" if "person" not in noun.tags else "whom" if relative.subject else "who"

    def quality(self, adjective: Adjective, agreement: Agreement) -> str:
        """Adjectives have one form."""
        return adjective.english

    def governed(self, nominal: Nominal, predicate: Predicate) -> list[Word]:
        """Objects have one form."""
        return self.nominal(nominal)

    def verb_group(self, predicate: Predicate, agreement: Agreement, before: Agreement | None) -> list[Word]:
        """A group in the order of a statement."""
        return self._verb_group(predicate, agreement)

    def _verb_group(self, predicate: Predicate, agreement: Agreement, question: bool = False) -> list[Word]:
        """In a question the first word is the auxiliary."""
        verb = predicate.verb
        words = self._finite(predicate, agreement, question)
        if predicate.tense in ("going", "modal"):
            if predicate.modal not in (CAN, MUST):
                words.append(word("to", predicate, "verb"))
            words.append(word(verb.base, predicate, "verb"))
        if verb.particle:
            # Without a preposition in French, the particle is part of the verb's meaning (look for, chercher).
            words.append(word(verb.particle, predicate, "preposition" if verb.preposition else "verb"))
        return words

    def _finite(self, predicate: Predicate, agreement: Agreement, question: bool) -> list[Word]:
        """The finite verb with negation and adverb: of the verb itself, of "going", or of the modal."""
        past = predicate.tense == "past"
        role = "auxiliary" if predicate.tense in ("going", "modal") else "verb"
        extra = [word(predicate.negation, predicate, "not")] if predicate.negation else []
        if predicate.adverb:
            extra += self.fixed(predicate.adverb, predicate, "adverb")
        if predicate.tense == "going":
            return [word(_BE_PRESENT[agreement.person], predicate, role), *extra, word("going", predicate, role)]
        verb = predicate.modal or predicate.verb
        if verb is BE:
            return [word((_BE_PAST if past else _BE_PRESENT)[agreement.person], predicate, role), *extra]
        if verb is CAN and predicate.negation:
            return [("cannot", ((predicate, role), (predicate, "not")))]
        if verb is CAN or verb is MUST:
            return [word(verb.base, predicate, role), *extra]
        if question or predicate.negation == "not":
            do = "did" if past else "does" if agreement.person == 1 else "do"
            return [word(do, predicate, role), *extra, word(verb.base, predicate, role)]
        return [*extra, word(verb.past if past else self.present(verb, agreement), predicate, role)]


def surface(words: list[str]) -> str:
    """The sentence with its spaces."""
    return " ".join(words).replace(" '", "'").replace(" ,", ",").replace(" .", ".").replace(" ?", "?")
