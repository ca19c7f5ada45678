"""English from the tree: word order, the auxiliary do, the genitive, a or an."""

import re

from anaphora.data.grammar.entries import Verb
from anaphora.data.grammar.lexicon import A
from anaphora.data.grammar.phrases import (
    Agreement,
    Complement,
    Coordination,
    NamePhrase,
    Nominal,
    NounPhrase,
    ObjectRelative,
    Predicate,
    PronounPhrase,
    Quality,
    Sentence,
    SubjectRelative,
    Word,
    fixed,
    word,
)
from anaphora.data.grammar.verbs import BE, CAN, MUST

WORD = re.compile(r"'s|\w+|[^\w\s]")
"""What counts as a word of an English sentence: letters, the genitive 's, or one sign."""

_BE_PRESENT = ("am", "is", "are", "are")
_BE_PAST = ("was", "was", "were", "were")


def realise(sentence: Sentence) -> list[Word]:
    """The words of a sentence, without its capital."""
    words: list[Word] = []
    time = fixed(sentence.time, sentence.time.english, sentence, "time") if sentence.time else []
    if sentence.time_first:
        words += [*time, word(",", sentence, "comma")]
    if opinion := sentence.opinion:
        words += _nominal(opinion.subject)
        words.append(word(_present(opinion.verb, opinion.subject.agreement), opinion, "verb"))
        words.append(word("that", opinion, "that"))
    group = _verb_group(sentence.predicate, sentence.subject.agreement, sentence.question)
    if sentence.question:
        opener, meanings = group[0]
        # The word that opens the question carries it, beside its own meaning.
        words.append((opener, (*meanings, (sentence, "question"))))
        words += _nominal(sentence.subject) + group[1:]
    else:
        words += _nominal(sentence.subject) + group
    words += _complements(sentence.predicate)
    if not sentence.time_first:
        words += time
    words.append(word("?" if sentence.question else ".", sentence, "stop"))
    return words


def surface(words: list[str]) -> str:
    """The sentence as it is written."""
    return " ".join(words).replace(" '", "'").replace(" ,", ",").replace(" .", ".").replace(" ?", "?")


def _nominal(nominal: Nominal) -> list[Word]:
    match nominal:
        case NamePhrase(name):
            return [word(name.form, nominal, "noun")]
        case PronounPhrase(pronoun):
            return [word(pronoun.english, nominal, "noun")]
        case Coordination(first, second):
            return [*_nominal(first), word("and", nominal, "and"), *_nominal(second)]
        case NounPhrase():
            return _noun_phrase(nominal)


def _noun_phrase(phrase: NounPhrase) -> list[Word]:
    noun = phrase.noun.english_plural if phrase.plural else phrase.noun.english
    words = [word(a.english, phrase, "before" if a.before else "after") for a in phrase.adjectives]
    words.append(word(noun, phrase, "noun"))
    if phrase.owner:
        words = [*_nominal(phrase.owner), word("'s", phrase, "owner"), *words]
    else:
        determiner = phrase.determiner.english
        if phrase.determiner is A and words[0][0][0] in "aeiouAEIOU":
            determiner = "an"
        words.insert(0, word(determiner, phrase, "determiner"))
    if relative := phrase.relative:
        words.append(word(_relative_pronoun(phrase), relative, "relative"))
        agreement = phrase.agreement
        if isinstance(relative, ObjectRelative):
            words += _nominal(relative.subject)
            agreement = relative.subject.agreement
        words += _verb_group(relative.predicate, agreement) + _complements(relative.predicate)
    return words


def _relative_pronoun(phrase: NounPhrase) -> str:
    if "person" not in phrase.noun.tags:
        return "that"
    return "who" if isinstance(phrase.relative, SubjectRelative) else "whom"


def _complements(predicate: Predicate) -> list[Word]:
    words: list[Word] = []
    for part in predicate.complements:
        match part:
            case Quality(adjective, very):
                words += [word("very", part, "very")] if very else []
                words.append(word(adjective.english, part, "after"))
            case Complement(nominal, preposition):
                words += fixed(preposition, preposition.english, part, "preposition") if preposition else []
                words += _nominal(nominal)
    return words


def _verb_group(predicate: Predicate, agreement: Agreement, question: bool = False) -> list[Word]:
    """The verb with its auxiliaries, negation, adverb and particle; in a question its first word is the auxiliary."""
    verb = predicate.verb
    words = _finite(predicate, agreement, question)
    if predicate.tense in ("going", "modal"):
        if predicate.modal not in (CAN, MUST):
            words.append(word("to", predicate, "verb"))
        words.append(word(verb.base, predicate, "verb"))
    if verb.particle:
        # Without a preposition in French, the particle is part of the verb's meaning (look for, chercher).
        words.append(word(verb.particle, predicate, "preposition" if verb.preposition else "verb"))
    return words


def _finite(predicate: Predicate, agreement: Agreement, question: bool) -> list[Word]:
    """The finite verb with negation and adverb: of the verb itself, of "going", or of the modal."""
    role = "auxiliary" if predicate.tense in ("going", "modal") else "verb"
    extra: list[Word] = []
    if predicate.negation:
        extra.append(word(predicate.negation, predicate, "not"))
    if predicate.adverb:
        extra += fixed(predicate.adverb, predicate.adverb.english, predicate, "adverb")
    if predicate.tense == "going":
        return [word(_BE_PRESENT[agreement.person], predicate, role), *extra, word("going", predicate, role)]
    verb = predicate.modal or predicate.verb
    if verb is BE:
        forms = _BE_PAST if predicate.tense == "past" else _BE_PRESENT
        return [word(forms[agreement.person], predicate, role), *extra]
    if verb is CAN and predicate.negation:
        return [("cannot", ((predicate, role), (predicate, "not")))]
    if verb is CAN or verb is MUST:
        return [word(verb.base, predicate, role), *extra]
    if question or predicate.negation == "not":
        do = "did" if predicate.tense == "past" else "does" if agreement.person == 1 else "do"
        return [word(do, predicate, role), *extra, word(verb.base, predicate, role)]
    form = verb.past if predicate.tense == "past" else _present(verb, agreement)
    return [*extra, word(form, predicate, role)]


def _present(verb: Verb, agreement: Agreement) -> str:
    return verb.third if agreement.person == 1 else verb.base
