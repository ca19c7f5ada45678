"""What the grammars of the two languages share: clauses around a verb, coordination, fixed phrases."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from anaphora.samples.english_french.entries import Adjective, Expression, Noun, Verb
from anaphora.samples.english_french.phrases import (
    Agreement,
    Bare,
    Complement,
    Coordination,
    Nominal,
    NounPhrase,
    Predicate,
    Quality,
    Relative,
    Sentence,
    Word,
    word,
)


class Grammar(ABC):
    """The realisation of syntax trees in one language; a method returns words in the order of that language."""

    language: ClassVar[Literal["english", "french"]]
    conjunction: ClassVar[str]
    complementiser: ClassVar[str]
    intensifier: ClassVar[str]

    def realise(self, sentence: Sentence) -> list[Word]:
        """The words of a sentence, without its capital."""
        words: list[Word] = []
        time = self.fixed(sentence.time, sentence, "time") if sentence.time else []
        if sentence.time_first:
            words += [*time, word(",", sentence, "comma")]
        if opinion := sentence.opinion:
            words += self.nominal(opinion.subject)
            words.append(word(self.present(opinion.verb, opinion.subject.agreement), opinion, "verb"))
            words.append(word(self.complementiser, opinion, "that"))
        words += self.question(sentence) if sentence.question else self.clause(sentence.subject, sentence.predicate)
        if not sentence.time_first:
            words += time
        words.append(word("?" if sentence.question else ".", sentence, "stop"))
        return words

    def clause(self, subject: Nominal, predicate: Predicate, before: Agreement | None = None) -> list[Word]:
        """A clause in the order of a statement; ``before`` is the agreement of a direct object that precedes it."""
        return self.nominal(subject) + self.predicate(predicate, subject.agreement, before)

    def predicate(self, predicate: Predicate, agreement: Agreement, before: Agreement | None = None) -> list[Word]:
        """A verb group and its complements."""
        return self.verb_group(predicate, agreement, before) + self.complements(predicate, agreement)

    def nominal(self, nominal: Nominal) -> list[Word]:
        """A subject or an object."""
        match nominal:
            case Bare(referent):
                return [word(getattr(referent, self.language), nominal, "noun")]
            case Coordination(first, second):
                return [*self.nominal(first), word(self.conjunction, nominal, "and"), *self.nominal(second)]
            case NounPhrase():
                return self.noun_phrase(nominal)

    def complements(self, predicate: Predicate, agreement: Agreement) -> list[Word]:
        """What follows a verb."""
        words: list[Word] = []
        for node in predicate.complements:
            match node:
                case Quality(adjective, very):
                    words += [word(self.intensifier, node, "very")] if very else []
                    words.append(word(self.quality(adjective, agreement), node, "after"))
                case Complement(nominal, None):
                    words += self.governed(nominal, predicate)
                case Complement(nominal, Expression() as preposition):
                    words += [*self.fixed(preposition, node, "preposition"), *self.nominal(nominal)]
        return words

    def relative(self, phrase: NounPhrase) -> list[Word]:
        """The relative clause of a noun, if it has one."""
        if not (relative := phrase.relative):
            return []
        opener = word(self.relative_pronoun(phrase.noun, relative), relative, "relative")
        if relative.subject:
            return [opener, *self.clause(relative.subject, relative.predicate, phrase.agreement)]
        return [opener, *self.predicate(relative.predicate, phrase.agreement)]

    def fixed(self, expression: Expression, node: object, role: str) -> list[Word]:
        """The words of a fixed phrase; linked word for word if both languages have as many, else all to all."""
        word_for_word = len(expression.english) == len(expression.french)
        forms: tuple[str, ...] = getattr(expression, self.language)
        return [word(form, node, f"{role} {place}" if word_for_word else role) for place, form in enumerate(forms)]

    @abstractmethod
    def present(self, verb: Verb, agreement: Agreement) -> str:
        """A verb in the present tense."""

    @abstractmethod
    def question(self, sentence: Sentence) -> list[Word]:
        """The clause of a question."""

    @abstractmethod
    def noun_phrase(self, phrase: NounPhrase) -> list[Word]:
        """A noun with its determiner or owner, its adjectives and its relative clause."""

    @abstractmethod
    def relative_pronoun(self, noun: Noun, relative: Relative) -> str:
        """The word that opens a relative clause."""

    @abstractmethod
    def verb_group(self, predicate: Predicate, agreement: Agreement, before: Agreement | None) -> list[Word]:
        """The verb with its auxiliaries, negation, adverb, and particle or preposition."""

    @abstractmethod
    def quality(self, adjective: Adjective, agreement: Agreement) -> str:
        """The form of a predicative adjective."""

    @abstractmethod
    def governed(self, nominal: Nominal, predicate: Predicate) -> list[Word]:
        """What the verb itself governs."""
