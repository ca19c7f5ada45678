"""Splits of a generated corpus; French orthography, agreement and word order, as rules that every sentence keeps."""

import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

from anaphora.errors import ConfigError
from anaphora.formats.pharaoh import each_links
from anaphora.samples import english_french as lexicon
from anaphora.samples.draws import Draws, Splits
from anaphora.samples.english_french import MAX_WORDS, Pair, Sentence, corpus, write

NOUNS, ADJECTIVES, DETERMINERS, VERBS = (
    lexicon.TABLES[name] for name in ("nouns", "adjectives", "determiners", "verbs")
)
ENGLISH_WORD = re.compile(r"'s|\w+|[^\w\s]")
FRENCH_WORD = re.compile(r"\w+'?|[^\w\s]")
FORMS = [
    {table[person] for table in (lexicon.SUIS, lexicon.ETAIS, lexicon.AI, lexicon.VAIS)}
    | {verb["present"].split()[person] for verb in VERBS}
    for person in range(4)
]
PERSONS = {"je": 0, "j'": 0, "il": 1, "elle": 1, "nous": 2}


@pytest.fixture(scope="module")
def splits() -> Splits[Pair]:
    return corpus(seed=3, train=6000, valid=150, test=200)


def test_every_split_has_the_requested_size(splits: Splits[Pair]) -> None:
    assert [len(split) for split in splits] == [6000, 150, 200]
    assert [len(split) for split in corpus(1, 20, 0, 0)] == [20, 0, 0]
    assert [len(split) for split in corpus(1, 0, 0, 0)] == [0, 0, 0]


def test_no_english_sentence_occurs_twice(splits: Splits[Pair]) -> None:
    every = [pair.source for split in splits for pair in split]
    assert len(every) == len(set(every))
    assert all(3 <= len(words) <= MAX_WORDS for split in splits for pair in split for words in pair[3:])


def test_a_longer_stream_begins_with_the_shorter_and_another_seed_is_another_stream() -> None:
    assert corpus(7, 50, 0, 0).train == corpus(7, 500, 0, 0).train[:50]
    first, second = ({pair.source for pair in corpus(seed, 200, 0, 0).train} for seed in (1, 2))
    assert len(first & second) < 40


def test_the_corpus_of_a_seed_never_changes(tmp_path: Path) -> None:
    every = hashlib.sha256()
    for path in sorted(write(tmp_path / "corpus", seed=9, train=400, valid=20, test=20).iterdir()):
        every.update(path.name.encode() + b"\0" + path.read_bytes())
    assert every.hexdigest() == "8a62ce2097cbd8fd86be4940e688a29b5b9b5eb8f18d701b0fe141b88cdc4d62"
    links = repr([pair.links for pair in corpus(3, 500, 0, 0).train])
    assert hashlib.sha256(links.encode()).hexdigest()[:12] == "733ceffcd075"


def test_files_are_aligned_line_by_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "grammar", seed=4, train=600, valid=20, test=30)
    splits = corpus(4, 600, 20, 30)
    lines = {path.name: path.read_text("utf-8").splitlines() for path in folder.iterdir()}
    assert set(lines) == {"train.en", "train.fr", "val.en", "val.fr", "test.en", "test.fr", "test.links"}
    for name, split in (("train", splits.train), ("val", splits.valid), ("test", splits.test)):
        assert lines[f"{name}.en"] == [pair.source for pair in split]
        assert lines[f"{name}.fr"] == [pair.target for pair in split]
    for pair, links in zip(splits.test, each_links(folder / "test.links", [None] * 30), strict=True):
        sources, targets = pair.source.split(), pair.target.split()
        assert {(i, j) for i, j in links if i < len(sources) and j < len(targets)} == links
        for i, j in pair.links:  # as the words are written, the ones that are written together included
            assert any(pair.source_words[i] in sources[a] and pair.target_words[j] in targets[b] for a, b in links)
        assert len(links) <= len(pair.links)


@pytest.mark.parametrize(("name", "sizes"), [("train", (-1, 0, 0)), ("valid", (10, -1, 0)), ("test", (10, 0, -1))])
def test_a_negative_size_is_refused(name: str, sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError, match=f"0 items or more, but {name} = -1"):
        corpus(1, *sizes)


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return corpus(seed=11, train=12_000, valid=0, test=0).train


@pytest.fixture(scope="module")
def french(pairs: list[Pair]) -> list[list[str]]:
    return [[word.lower() for word in pair.target_words] for pair in pairs]


def vowel(word: str) -> bool:
    return word[0] in "aeiouéèêâîôœ" or (word[0] == "h" and word not in ("hibou", "hiboux"))


@pytest.mark.parametrize(
    ("english", "expected"),
    [
        # adjectives take their sides; opinion precedes age in English alone
        ("little red car", "petite voiture rouge"),
        ("interesting old book", "vieux livre intéressant"),
        ("beautiful white horses", "beaux chevaux blancs"),
        # forms before a vowel, and the aspirated h of hibou
        ("old uncle", "vieil oncle"),
        ("my new scarf", "ma nouvelle écharpe"),
        ("the owl", "(le|du|au) hibou"),
        ("the doctor's mother", "la mère du médecin"),
        ("talked about Alice", "parlé (d'Alice|d\\w+ .* d'Alice)"),
        # a participle agrees with the subject after être, not after avoir
        ("she left", "elle est partie"),
        ("women (arrived|went|left)", "sont (arrivées|allées|parties)"),
        ("(women|girls|actresses) (slept|sang)", "ont (dormi|chanté)"),
        # the article of the direct object of a negated verb is de, of another complement not
        ("(not|never) (see|sees|eat|eats|ate|buy|find|finds) an? (egg|apple|cat|cake|orange)", "(de |d')\\w+"),
        ("not (in|near|behind) a (house|church|station)", "pas (dans|près d'|derrière) ?une"),
    ],
)
def test_french_is_right_where_it_is_hard(english: str, expected: str, pairs: list[Pair]) -> None:
    found = [pair for pair in pairs if re.search(rf"(?<!\w)({english})\b", pair.source, re.IGNORECASE)]
    assert found
    for pair in found:
        assert re.search(rf"(?<!\w)({expected})(?!\w)", pair.target, re.IGNORECASE), pair


def test_english_alone_decides_the_french() -> None:
    draws, french = Draws(5), dict[tuple[str, ...], list[str]]()
    for _ in range(10_000):
        sentence = Sentence(draws)
        source, target = ([text for text, _ in words] for words in (sentence.english, sentence.french))
        assert french.setdefault(tuple(source), target) == target, source
    assert len(french) < 9_900


def test_words_elide_before_every_vowel_and_contract_and_nothing_else_does(french: list[list[str]]) -> None:
    assert {word for words in french for word in words} >= {"du", "des", "au", "aux", "l'", "d'"}
    for first, second in (two for words in french for two in pairwise(words)):
        assert not first.endswith("'") or vowel(second), (first, second)
        assert not (first in lexicon.ELISIONS and vowel(second)), (first, second)
        assert (first, second) not in lexicon.CONTRACTIONS


def test_verbs_agree_with_their_pronoun_and_negation_has_both_its_parts_around_them(french: list[list[str]]) -> None:
    finite, met = {one for forms in FORMS for one in forms}, set()
    for words in french:
        assert sum(word in ("ne", "n'") for word in words) == sum(word in ("pas", "jamais") for word in words)
        for place, word in enumerate(words):
            if word in ("ne", "n'"):
                assert words[place + 1] in finite and words[place + 2] in ("pas", "jamais"), words
            if word in PERSONS:
                verb = words[place + 2] if words[place + 1] in ("ne", "n'") else words[place + 1]
                assert verb in FORMS[PERSONS[word]], words
                met.add(word)
    assert met == set(PERSONS)


def test_determiners_and_adjectives_agree_with_their_noun(french: list[list[str]]) -> None:
    agreements: dict[str, set[tuple[str, bool]]] = {}
    for row in NOUNS:
        agreements.setdefault(row["french"], set()).add((row["gender"], False))
        agreements.setdefault(row["french plural"], set()).add((row["gender"], True))
    nouns, adjectives = set(agreements), set()
    for row in (*DETERMINERS, *ADJECTIVES):
        for column, form in row.items():
            gender, _, number = column.partition(" ")
            if gender in ("masculine", "feminine"):
                agreements.setdefault(form, set()).add((gender, number == "plural"))
                adjectives |= {form} if row in ADJECTIVES else set()
    both = [(gender, plural) for gender in ("masculine", "feminine") for plural in (False, True)]
    agreements |= {"l'": {both[0], both[2]}, "de": set(both), "d'": set(both), "du": {both[0]}, "au": {both[0]}}
    agreements |= {"des": {both[1], both[3]}, "aux": {both[1], both[3]}}
    for words in french:
        for place, word in enumerate(words):
            if word in nouns:
                group = [words[place - 1], *([words[place - 2]] if words[place - 1] in adjectives else [])]
                group += [words[place + 1]] if words[place + 1] in adjectives else []
                assert set.intersection(*(agreements[member] for member in (word, *group))), words


def test_the_gender_of_a_speaker_never_shows(pairs: list[Pair]) -> None:
    found = {match[2] for p in pairs for match in re.finditer(r"\b(suis|sommes|étais|étions) (?:pas )?(\w+)", p.target)}
    assert found == {preposition.split()[0] for preposition in lexicon.PLACES.values()}


def test_an_stands_before_a_vowel_and_a_before_a_consonant(pairs: list[Pair]) -> None:
    articles = {match for p in pairs for match in re.findall(r"\b(an?) (\w)", p.source.lower())}
    assert {article for article, _ in articles} == {"a", "an"}
    assert all((article == "an") == (letter in "aeiou") for article, letter in articles)


def test_sentences_are_written_with_a_capital_a_full_stop_and_no_stray_space(pairs: list[Pair]) -> None:
    for p in pairs:
        for text, words, pattern in ((p.source, p.source_words, ENGLISH_WORD), (p.target, p.target_words, FRENCH_WORD)):
            assert text[0].isupper() and text.endswith(".") and not re.search(r"  |' | ['.,]|^ | $", text), text
            assert tuple(pattern.findall(text)) == words


def test_every_word_is_linked_to_its_translation(pairs: list[Pair]) -> None:
    articles, of = {"le", "la", "les", "l'"}, {"de", "d'", "du", "des"}
    translations = {
        **{row[f"english{number}"]: {row[f"french{number}"]} for row in NOUNS for number in ("", " plural")},
        **{
            row["english"]: {form for column, form in row.items() if column.startswith(("masc", "fem"))}
            for row in ADJECTIVES
        },
        **{name: {name} for name in lexicon.NAMES},
        **{english: {french, "ne", "n'"} for english, french in lexicon.NEGATIONS.items()},
        "'s": {*articles, *of, "au", "aux"},
        "near": {"près", *of},
        "going": {*lexicon.VAIS},
        "often": {"souvent"},
        "yesterday": {"hier"},
    }
    met = set()
    for p in pairs:
        assert list(p.links) == sorted(set(p.links))
        assert {i for i, _ in p.links} == set(range(len(p.source_words)))
        assert {j for _, j in p.links} == set(range(len(p.target_words)))
        for i, word in enumerate(p.source_words):
            if (known := word if word in translations else word.lower()) in translations:
                found = [p.target_words[j] for k, j in p.links if k == i]
                assert {one.lower() for one in found} <= {one.lower() for one in translations[known]}, p
                assert len(found) == 1 + (known in (*lexicon.NEGATIONS, "'s", "near")), p
                met.add(known)
    assert met == set(translations)
