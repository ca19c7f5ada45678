"""Translations among the candidates of a run's shortlist: theirs alone, in any batch, and nothing changes with all."""

import shutil
from collections import Counter
from copy import copy
from pathlib import Path

import pytest

import anaphora
from anaphora.bulk.translation import LoadTranslator
from anaphora.errors import ConfigError, DataError, RunError
from anaphora.files import DamagedError
from anaphora.formats.glossary import GlossaryEntry
from anaphora.models.alignment.aligner import AlignerConfig
from anaphora.prediction.candidates import Shortlist
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.run import shortlists
from anaphora.run.summary import about
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.shortlist import RunShortlist, candidates_of, digest_of, learn_shortlist, make_shortlist
from tests.data.stores import pairs_in_memory

from ...conftest import Trained
from ..conftest import same, sentences, shown, with_data

EVERY = Shortlist(frequent=10**6, each=0)


@pytest.fixture(scope="module")
def shortlisted(predictor: TranslationPredictor, tmp_path_factory: pytest.TempPathFactory) -> TranslationPredictor:
    """A translator with the shortlist of pairs whose targets are their sources backwards."""
    folder, tokenizer = tmp_path_factory.mktemp("run"), predictor.target
    rows = [tokenizer.encode(text) for text in sentences(60, most=6, seed=4)]
    store = pairs_in_memory([(row, row[::-1]) for row in rows])
    found = learn_shortlist(store, tokenizer, tokenizer, AlignerConfig(model1_iterations=2, hmm_iterations=1))
    counts = Counter(token for row in rows for token in row)
    assert found.frequent_V[:3].tolist() == sorted(counts, key=lambda token: (-counts[token], token))[:3]
    shortlists.write(folder, digest_of(tokenizer, tokenizer), found)
    translator = copy(predictor)
    translator.shortlist = RunShortlist(folder, tokenizer, tokenizer)
    return translator


def candidates(translator: TranslationPredictor, text: str, asked: Shortlist, also: list[int]) -> list[int]:
    found = candidates_of(translator.shortlist.tokens, [translator.source.encode(text)], asked, [also])
    return found.ids_BT[0].tolist()


def test_candidates_are_frequent_own_likely_and_needed_tokens(shortlisted: TranslationPredictor) -> None:
    own = shortlisted.source.encode("the dog sees")
    assert candidates(shortlisted, "the dog sees", Shortlist(0, 1), []) == sorted({1, 3, *own})
    few, more = (candidates(shortlisted, "the dog sees", Shortlist(n, n), [7]) for n in (2, 5))
    assert {1, 3, 7, *own} < set(few) < set(more) and more == sorted(more)
    assert candidates(shortlisted, "the dog sees", EVERY, []) == list(range(shortlisted.target.symbols.size))


def test_all_tokens_as_shortlist_change_no_bit(shortlisted: TranslationPredictor) -> None:
    texts = sentences(4, most=9, seed=6)
    free = shortlisted.translate(texts, beam=4, attention=True)
    among = shortlisted.translate(texts, beam=4, attention=True, candidates=EVERY)
    assert all(map(same, among, free)) and [one.score for one in among] == [one.score for one in free]


def test_a_sentence_is_translated_alike_alone_and_in_any_batch(shortlisted: TranslationPredictor) -> None:
    texts, asked = sentences(5, most=9, seed=8), SearchOptions(4, candidates=Shortlist(3, 2), attention=True)
    together = shortlisted.translate(texts, asked)
    alone = [shortlisted.translate([text], asked)[0] for text in texts]
    assert all(map(same, together, alone)) and [one.score for one in together] == [one.score for one in alone]
    assert [one.text for one in together] != [one.text for one in shortlisted.translate(texts, beam=4)]
    for text, one in zip(texts, together, strict=True):
        allowed = shortlisted.target.pieces(candidates(shortlisted, text, Shortlist(3, 2), []))
        assert {*one.target_pieces} <= {*allowed}


def test_prefixes_terms_and_placeholders_are_written_whatever_the_shortlist(shortlisted: TranslationPredictor) -> None:
    asked = SearchOptions(3, candidates=Shortlist(0, 1))
    [begun] = shortlisted.translate(["a dog"], asked, prefixes=["the tree"])
    assert begun.text.startswith("the tree")
    terms = Glossary([GlossaryEntry("g.tsv:1", "dog", ("house",), ())])
    [termed] = shortlisted.translate(["a dog walks"], asked._replace(terms=terms, min_length=3))
    assert "house" in termed.text
    [kept] = shortlisted.translate(["a dog {name} <b>walks</b>"], asked)
    assert all(kept.text.count(one) == 1 for one in ("{name}", "<b>", "</b>"))


def test_a_translator_that_is_no_run_by_itself_has_none(predictor: TranslationPredictor) -> None:
    with pytest.raises(ConfigError, match="stored in a run, but this translator is none"):
        predictor.translate(["a dog"], candidates=Shortlist())
    with pytest.raises(ConfigError, match="should be at least 0, but are"):
        predictor.translate(["a dog"], candidates=Shortlist(-1))


def test_changed_files_and_other_vocabularies_are_refused(shortlisted: TranslationPredictor, tmp_path: Path) -> None:
    tokenizer = shortlisted.target
    size, content = tokenizer.symbols.size, (shortlisted.shortlist._path / shortlists.NAME).read_bytes()  # type: ignore[attr-defined]
    digest = digest_of(tokenizer, tokenizer)
    assert shortlists.read(tmp_path, digest, (size, size)) is None
    file = tmp_path / shortlists.NAME
    for place in range(0, len(content), max(1, len(content) // 20)):
        file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(DamagedError):
            shortlists.read(tmp_path, digest, (size, size))
    file.write_bytes(content)
    with pytest.raises(RunError, match="belongs to other vocabularies"):
        shortlists.read(tmp_path, digest_of(tokenizer, anaphora.load(STORED).target), (size, size))
    with pytest.raises(DamagedError, match="no shortlist of these vocabularies"):
        shortlists.read(tmp_path, digest, (size + 1, size))


STORED = Path(__file__).resolve().parents[2] / "runs" / "format-2"


@pytest.fixture
def run(trained_copy: Trained) -> Path:
    return trained_copy("translator-of-words")


def test_a_run_learns_its_shortlist_and_translates_and_is_evaluated_with_it(run: Path, toy_data: Path) -> None:
    asked = ["translate", run, toy_data / "sentences" / "test.en", "--beam", "2", "--shortlist"]
    assert f"has no shortlist: make one with anaphora shortlist {run}." in shown(*asked, code=2).err
    assert shown("shortlist", run, "--json").json["translations"] > 0
    free, few = shown(*asked[:-1]), shown(*asked, "--translations-per-word", "1")
    assert shown(*asked, "--frequent-words", "9999").out == free.out and len(few.lines) == len(free.lines)
    limits = ["--shortlist", "--frequent-words", "3", "--translations-per-word", "2"]
    assert "among 3 frequent tokens and 2 translations of each token" in shown("evaluate", run, *limits).out
    assert "Both say which words may be written" in shown(*asked, "--candidates", "words.tsv", code=2).err


def test_a_damaged_shortlist_is_a_fault_of_the_run_and_another_one_makes_other_shards(run: Path) -> None:
    make_shortlist(run)
    load = LoadTranslator((run,), SearchOptions(candidates=Shortlist()))
    before = load.options_digest()
    assert not about(run).faults
    file = run / shortlists.NAME
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    [fault] = about(run).faults
    assert str(file) in fault and load.options_digest() != before


def test_other_models_and_moved_training_pairs_are_refused(run: Path, toy_sentences: Path) -> None:
    with_data(run, toy_sentences)
    with pytest.raises(ConfigError, match="A shortlist is of a translator"):
        make_shortlist(STORED.parent / "kinds-2" / "aligner")
    with (toy_sentences / "train.en").open("a") as sources, (toy_sentences / "train.fr").open("a") as targets:
        sources.write("More .\n")
        targets.write("Plus .\n")
    with pytest.raises(DataError, match="no longer those that it was trained on"):
        make_shortlist(run)
    shutil.rmtree(toy_sentences)
    with pytest.raises(DataError, match="no longer there: put it back"):
        make_shortlist(run)
