"""French from the tree: word order, agreement in gender, number and person, negation in two parts."""

from anaphora.data.grammar.entries import Adjective, Determiner, Gender
from anaphora.data.grammar.lexicon import NOT_A, A
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
from anaphora.data.grammar.sandhi import begins_with_vowel
from anaphora.data.grammar.verbs import BE, BE_PAST, GO_PRESENT, HAVE_PRESENT


def realise(sentence: Sentence) -> list[Word]:
    """The words of a sentence in full form: no elision, no contraction, no capital yet."""
    words: list[Word] = []
    time = fixed(sentence.time, sentence.time.french, sentence, "time") if sentence.time else []
    if sentence.time_first:
        words += [*time, word(",", sentence, "comma")]
    if opinion := sentence.opinion:
        agreement = opinion.subject.agreement
        words += _nominal(opinion.subject)
        words.append(word(opinion.verb.present[agreement.person], opinion, "verb"))
        words.append(word("que", opinion, "that"))
    if sentence.question:
        words += [word("est-ce", sentence, "question"), word("que", sentence, "question")]
    agreement = sentence.subject.agreement
    words += _nominal(sentence.subject)
    words += _verb_group(sentence.predicate, agreement) + _complements(sentence.predicate, agreement)
    if not sentence.time_first:
        words += time
    words.append(word("?" if sentence.question else ".", sentence, "stop"))
    return words


def agree(adjective: Adjective, gender: Gender, plural: bool, following: str = "") -> str:
    """The form of an adjective; ``following`` is the word that it stands before, if any (un vieil homme)."""
    if gender == "f":
        return adjective.feminine_plural if plural else adjective.feminine
    if plural:
        return adjective.masculine_plural
    return adjective.liaison if following and begins_with_vowel(following) else adjective.masculine


def determine(determiner: Determiner, gender: Gender, following: str) -> str:
    """The form of a determiner before the word ``following`` (cet homme, mon écharpe)."""
    if begins_with_vowel(following):
        return determiner.masculine_vowel if gender == "m" else determiner.feminine_vowel
    return determiner.masculine if gender == "m" else determiner.feminine


def _nominal(nominal: Nominal) -> list[Word]:
    match nominal:
        case NamePhrase(name):
            return [word(name.form, nominal, "noun")]
        case PronounPhrase(pronoun):
            return [word(pronoun.french, nominal, "noun")]
        case Coordination(first, second):
            return [*_nominal(first), word("et", nominal, "and"), *_nominal(second)]
        case NounPhrase():
            return _noun_phrase(nominal, nominal.determiner)


def _noun_phrase(phrase: NounPhrase, determiner: Determiner) -> list[Word]:
    gender, plural = phrase.noun.gender, phrase.plural
    noun = phrase.noun.french_plural if plural else phrase.noun.french
    words = [word(noun, phrase, "noun")]
    for adjective in phrase.adjectives:
        if adjective.before:
            words.insert(0, word(agree(adjective, gender, plural, noun), phrase, "before"))
        else:
            words.append(word(agree(adjective, gender, plural), phrase, "after"))
    role = "owner" if phrase.owner else "determiner"
    forms = determine(determiner, gender, words[0][0]).split()
    words = [*(word(form, phrase, role) for form in forms), *words]
    if phrase.owner:
        words += [word("de", phrase, "owner"), *_nominal(phrase.owner)]
    match phrase.relative:
        case SubjectRelative(predicate) as relative:
            words.append(word("qui", relative, "relative"))
            words += _verb_group(predicate, phrase.agreement) + _complements(predicate, phrase.agreement)
        case ObjectRelative(subject, predicate) as relative:
            words += [word("que", relative, "relative"), *_nominal(subject)]
            words += _verb_group(predicate, subject.agreement, preceding_object=phrase.agreement)
            words += _complements(predicate, subject.agreement)
    return words


def _complements(predicate: Predicate, agreement: Agreement) -> list[Word]:
    words: list[Word] = []
    for part in predicate.complements:
        match part:
            case Quality(adjective, very):
                words += [word("très", part, "very")] if very else []
                words.append(word(agree(adjective, agreement.gender, agreement.plural), part, "after"))
            case Complement(nominal, preposition):
                words += fixed(preposition, preposition.french, part, "preposition") if preposition else []
                direct = preposition is None and not predicate.verb.preposition
                if direct and predicate.negation and isinstance(nominal, NounPhrase) and nominal.determiner is A:
                    words += _noun_phrase(nominal, NOT_A)
                else:
                    words += _nominal(nominal)
    return words


def _verb_group(predicate: Predicate, agreement: Agreement, *, preceding_object: Agreement | None = None) -> list[Word]:
    """The verb with its auxiliary, negation, adverb and preposition.

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
        controller = agreement if verb.with_etre else preceding_object
        rest = _participle(verb.participle, controller)
    else:
        finite = verb.present[person]
    words = [word(finite, predicate, role)]
    if predicate.negation:
        words.insert(0, word("ne", predicate, "not"))
        words.append(word("pas" if predicate.negation == "not" else "jamais", predicate, "not"))
    if predicate.adverb:
        words += fixed(predicate.adverb, predicate.adverb.french, predicate, "adverb")
    if rest:
        words.append(word(rest, predicate, "verb"))
    if verb.preposition:
        # Without a particle in English, the preposition is part of the verb's meaning (answer, répondre à).
        words.append(word(verb.preposition, predicate, "preposition" if verb.particle else "verb"))
    return words


def _participle(masculine: str, controller: Agreement | None) -> str:
    if controller is None:
        return masculine
    return masculine + ("e" if controller.gender == "f" else "") + ("s" if controller.plural else "")
