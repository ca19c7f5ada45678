"""French orthography and agreement, as rules that every generated sentence keeps."""

import itertools
import re

import pytest

from anaphora.samples.english_french import Pair, sandhi, sentences
from anaphora.samples.english_french.lexicon import (
    ADJECTIVES,
    ASPIRATED,
    BE_PAST,
    GO_PRESENT,
    HAVE_PRESENT,
    NOUNS,
    NUMBERS,
    POSSESSIVES,
    POSSESSIVES_PLURAL,
    QUANTITIES,
    THE_PLURAL,
    THESE,
    THIS,
    VERBS,
    A,
)
from anaphora.samples.english_french.pair import pair
from anaphora.samples.english_french.sentences import Sentences

EVERY_VERB = [verb for group in VERBS.values() for verb in group]
ENGLISH_WORD = re.compile(r"'s|\w+|[^\w\s]")
FRENCH_WORD = re.compile(r"\w+(?:-\w+)*'?|[^\w\s]")
PERSONS = {"je": 0, "j'": 0, "il": 1, "elle": 1, "nous": 2}


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(sentences(11, 4000))


def lower(pair: Pair) -> list[str]:
    return [word.lower() for word in pair.target_words]


def vowel(word: str) -> bool:
    return word[0] in "aeiouyéèêâîôœ" or (word[0] == "h" and word not in ASPIRATED)


def neighbours(pairs: list[Pair]) -> list[tuple[str, str]]:
    return [two for words in map(lower, pairs) for two in itertools.pairwise(words)]


def test_what_elides_does_so_before_every_vowel_and_nowhere_else(pairs: list[Pair]) -> None:
    elided = 0
    for first, second in neighbours(pairs):
        if first.endswith("'"):
            assert vowel(second), (first, second)
            elided += 1
        assert not (first in sandhi.ELISIONS and vowel(second)), (first, second)
    assert elided > 1000


def test_prepositions_and_articles_never_meet_uncontracted(pairs: list[Pair]) -> None:
    met = {word for words in map(lower, pairs) for word in words}
    assert met >= {"du", "des", "au", "aux"}
    assert not set(neighbours(pairs)) & set(sandhi.CONTRACTIONS)


def test_forms_for_a_vowel_stand_before_a_vowel_and_only_there(pairs: list[Pair]) -> None:
    before_vowel = {"cet", "bel", "vieil", "nouvel"}
    before_consonant = {"ce", "beau", "ma", "sa"}
    assert {word for words in map(lower, pairs) for word in words} >= before_vowel
    for first, second in neighbours(pairs):
        if first in before_vowel:
            assert vowel(second), (first, second)
        if first in before_consonant and second not in ".?":
            assert not (vowel(second) and (first != "beau" or second in NOUN_FORMS)), (first, second)


def test_negation_has_both_its_parts_around_the_verb(pairs: list[Pair]) -> None:
    negated = 0
    finite = {form for verb in EVERY_VERB for form in verb.present} | {*BE_PAST, *HAVE_PRESENT}
    for words in map(lower, pairs):
        for place, word in enumerate(words):
            if word in ("ne", "n'"):
                negated += 1
                assert words[place + 1] in finite
                assert words[place + 2] in ("pas", "jamais"), words
        assert sum(word in ("ne", "n'") for word in words) == sum(word in ("pas", "jamais") for word in words)
    assert negated > 500


NOUN_FORMS: dict[str, set[tuple[str, bool]]] = {}
for _noun in NOUNS:
    NOUN_FORMS.setdefault(_noun.french, set()).add((_noun.gender, False))
    NOUN_FORMS.setdefault(_noun.french_plural, set()).add((_noun.gender, True))

MODIFIERS: dict[str, set[tuple[str, bool]]] = {
    **{form: {("m", False), ("f", False)} for form in ("l'", "notre", "mon", "son", "de", "d'")},
    **{form: {("m", True), ("f", True)} for form in ("aux", "des")},
    **{form: {("m", False)} for form in ("le", "du", "au", "cet")},
    "la": {("f", False)},
    "de": {("m", False), ("f", False), ("m", True), ("f", True)},
    "d'": {("m", False), ("f", False), ("m", True), ("f", True)},
}
for _determiner in (A, THIS, *POSSESSIVES):
    MODIFIERS.setdefault(_determiner.masculine, set()).add(("m", False))
    MODIFIERS.setdefault(_determiner.feminine, set()).add(("f", False))
for _determiner in (THE_PLURAL, THESE, *POSSESSIVES_PLURAL, *NUMBERS, QUANTITIES[0]):
    MODIFIERS.setdefault(_determiner.masculine, set()).update({("m", True), ("f", True)})
for _adjective in ADJECTIVES:
    MODIFIERS.setdefault(_adjective.masculine, set()).add(("m", False))
    MODIFIERS.setdefault(_adjective.liaison, set()).add(("m", False))
    MODIFIERS.setdefault(_adjective.feminine, set()).add(("f", False))
    MODIFIERS.setdefault(_adjective.masculine_plural, set()).add(("m", True))
    MODIFIERS.setdefault(_adjective.feminine_plural, set()).add(("f", True))
ADJECTIVE_FORMS = {
    form for a in ADJECTIVES for form in (a.masculine, a.liaison, a.feminine, a.masculine_plural, a.feminine_plural)
}


def test_determiners_and_adjectives_agree_with_their_noun(pairs: list[Pair]) -> None:
    agreed = 0
    for words in map(lower, pairs):
        for place, word in enumerate(words):
            if word not in NOUN_FORMS:
                continue
            group = [words[place - 1]]
            if words[place - 1] in ADJECTIVE_FORMS:
                group.append(words[place - 2])
            if words[place + 1] in ADJECTIVE_FORMS:
                group.append(words[place + 1])
            assert NOUN_FORMS[word] & set.intersection(*(MODIFIERS[member] for member in group)), words
            agreed += 1
    assert agreed > 4000


def test_verbs_agree_with_their_pronoun(pairs: list[Pair]) -> None:
    forms = [
        {verb.present[person] for verb in EVERY_VERB} | {table[person] for table in (BE_PAST, HAVE_PRESENT, GO_PRESENT)}
        for person in range(4)
    ]
    met: set[str] = set()
    for words in map(lower, pairs):
        for place, word in enumerate(words):
            if word in PERSONS:
                following = words[place + 1] if words[place + 1] not in ("ne", "n'") else words[place + 2]
                assert following in forms[PERSONS[word]], words
                met.add(word)
    assert met == set(PERSONS)


def test_participles_after_etre_agree_with_their_pronoun(pairs: list[Pair]) -> None:
    participles = {verb.participle for verb in (*VERBS["motion"], *VERBS["departure"])}
    pattern = re.compile(r"\b(il|elle) (?:n')?est (?:pas |jamais )?(\w+)", re.IGNORECASE)
    found: set[str] = set()
    for match in (match for p in pairs for match in pattern.finditer(p.target)):
        pronoun, word = match[1].lower(), match[2]
        if word in participles | {participle + "e" for participle in participles}:
            assert (pronoun == "elle") == (word not in participles), match[0]
            found.add(pronoun)
    assert found == {"il", "elle"}


def test_the_gender_of_a_speaker_never_shows(pairs: list[Pair]) -> None:
    pattern = re.compile(r"\b(je|j'|nous) ?(?:ne |n')?(?:suis|sommes|étais|étions) (?:pas )?(?:très )?(\w+)", re.I)
    gendered = {a.masculine for a in ADJECTIVES if a.masculine != a.feminine}
    gendered |= {a.masculine_plural for a in ADJECTIVES if a.masculine != a.feminine}
    followers = {match[2] for p in pairs for match in pattern.finditer(p.target)}
    participles = {verb.participle for verb in EVERY_VERB}
    assert followers
    assert not followers & (gendered | participles | {participle + "s" for participle in participles})


def test_a_sentence_begins_with_a_capital_and_ends_with_its_sign(pairs: list[Pair]) -> None:
    for p in pairs:
        assert p.source[0].isupper() and p.target[0].isupper()
        if p.source.endswith("?"):
            assert p.target.endswith(" ?") and p.target.startswith("Est-ce qu")
        else:
            assert p.source.endswith(".") and p.target.endswith(".") and not p.target.endswith(" .")


def test_sentences_are_written_without_stray_spaces(pairs: list[Pair]) -> None:
    for p in pairs:
        assert not re.search(r"  |' | ,| \.|^ | $", p.target), p.target
        assert not re.search(r"  | '| ,| \.| \?|^ | $", p.source), p.source


def test_an_stands_before_a_vowel_and_a_before_a_consonant(pairs: list[Pair]) -> None:
    articles = [match for p in pairs for match in re.findall(r"\b(an?) (\w)", p.source, re.I)]
    assert {article.lower() for article, _ in articles} == {"a", "an"}
    for article, letter in articles:
        assert (article.lower() == "an") == (letter.lower() in "aeiou")


def test_words_are_what_the_word_patterns_find(pairs: list[Pair]) -> None:
    for p in pairs:
        assert tuple(ENGLISH_WORD.findall(p.source)) == p.source_words
        assert tuple(FRENCH_WORD.findall(p.target)) == p.target_words


def test_every_word_is_linked_and_every_link_is_within_the_sentence(pairs: list[Pair]) -> None:
    for p in pairs:
        assert list(p.links) == sorted(set(p.links))
        assert {i for i, _ in p.links} == set(range(len(p.source_words))), p
        assert {j for _, j in p.links} == set(range(len(p.target_words))), p


def test_nouns_and_names_are_linked_to_their_translation(pairs: list[Pair]) -> None:
    translations = {noun.english: noun.french for noun in NOUNS}
    translations |= {noun.english_plural: noun.french_plural for noun in NOUNS}
    for p in pairs:
        for i, word in enumerate(p.source_words):
            if word in translations:
                assert [p.target_words[j] for k, j in p.links if k == i] == [translations[word]], p


def test_english_alone_decides_the_french() -> None:
    grammar, said = Sentences(5), dict[str, str]()
    for _ in range(20_000):
        p = pair(*grammar.draw())
        assert said.setdefault(p.source, p.target) == p.target, p.source


def test_no_two_nouns_or_adjectives_share_an_english_form() -> None:
    nouns = [form for noun in NOUNS for form in {noun.english, noun.english_plural}]
    adjectives = [adjective.english for adjective in ADJECTIVES]
    assert len(nouns + adjectives) == len({*nouns, *adjectives})
