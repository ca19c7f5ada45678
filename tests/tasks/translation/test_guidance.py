"""Attention guided by links, from the file or the aligner to the batches."""

from pathlib import Path

import pytest

from anaphora.data.corpora import PairCorpus
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.pairs import pair_fields
from anaphora.data.ragged import Ragged
from anaphora.data.sources import translation_splits
from anaphora.errors import DataError, RunError
from anaphora.events import Event, silent
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.models.translator import GivenGuide, LearntGuide
from anaphora.run import Run
from anaphora.tasks.translation.word_links import GivenLinks, learnt_links
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer

from ...conftest import TINY_TRANSLATOR

SOURCES = ["the red house", "", "a house", "the car is red"]
TARGETS = ["la maison rouge", "vide", "une maison", "la voiture est rouge"]
WORDS = WordTokenizer(
    sorted({w for line in SOURCES for w in line.split()}), lowercase=False, segmentation="whitespace", language="en"
)
LETTERS = CharacterTokenizer(sorted({c for line in TARGETS for c in line}), lowercase=False)


@pytest.fixture
def corpus(tmp_path: Path) -> PairCorpus:
    """Four pairs, of which training leaves out the second."""
    for side, lines in (("en", SOURCES), ("fr", TARGETS)):
        write_lines(tmp_path / f"train.{side}", lines)
        write_lines(tmp_path / f"val.{side}", lines[:1])
    return translation_splits([tmp_path], "en", "fr").train


def encoded(corpus: PairCorpus, source: Tokenizer, target: Tokenizer, folder: Path, longest: int = 0) -> ExampleStore:
    fields = pair_fields({"source": source, "target": target})
    return example_store(corpus, fields, folder / "encoded", noun="pair", longest=longest)


@pytest.fixture
def store(corpus: PairCorpus, tmp_path: Path) -> ExampleStore:
    return encoded(corpus, WORDS, LETTERS, tmp_path)


def given_links(tmp_path: Path, corpus: PairCorpus, *lines: str) -> GivenLinks:
    write_lines(tmp_path / "train.links", lines)
    return GivenLinks(GivenGuide(file=str(tmp_path / "train.links")), corpus, silent)


def rows_of(links: Ragged) -> list[list[list[int]]]:
    return [links[row].reshape(-1, 2).tolist() for row in range(len(links))]


def test_links_between_words_become_links_between_the_tokens_of_each(
    corpus: PairCorpus, store: ExampleStore, tmp_path: Path
) -> None:
    links = given_links(tmp_path, corpus, "1-2", "0-0", "0-0 1-1", "")
    rows = rows_of(links.tokens(store, tmp_path / "links", silent))
    assert rows[0] == [[1, j] for j in range(10, 15)]  # red: the letters of rouge
    assert rows[1] == [[0, 0], [0, 1], [0, 2], *([1, j] for j in range(4, 10))]
    assert rows[2] == []


def test_links_follow_the_lines_of_a_file_whichever_training_leaves_out(tmp_path: Path) -> None:
    lines = ["no pair", "the red house\tla maison rouge", "\tvide", "a\tb\tc", "a house\tune maison", "no pair"]
    write_lines(tmp_path / "train.tsv", lines)
    write_lines(tmp_path / "val.tsv", lines[1:2])
    corpus = translation_splits([tmp_path], "en", "fr").train
    store = encoded(corpus, WORDS, LETTERS, tmp_path)
    links = given_links(tmp_path, corpus, "", "1-2", "", "", "0-0", "")
    rows = rows_of(links.tokens(store, tmp_path / "links", silent))
    assert rows == [[[1, j] for j in range(10, 15)], [[0, 0], [0, 1], [0, 2]]]  # red: the letters of rouge
    with pytest.raises(DataError, match="word alignments of 6 pairs, a line each, but has 2 lines"):
        given_links(tmp_path, corpus, "1-2", "0-0")


def test_links_of_a_file_follow_their_pairs_where_long_ones_are_left_out(corpus: PairCorpus, tmp_path: Path) -> None:
    store = encoded(corpus, WORDS, WORDS, tmp_path, longest=3)
    assert store.numbers[:].tolist() == [0, 1]
    links = given_links(tmp_path, corpus, "1-1", "0-0", "0-1", "3-3")
    assert rows_of(links.tokens(store, tmp_path / "links", silent)) == [[[1, 1]], [[0, 1]]]


def test_links_of_a_file_are_small_integers_on_disk_and_made_again_where_they_are_damaged(
    corpus: PairCorpus, store: ExampleStore, tmp_path: Path
) -> None:
    lines, folder, notes = ("1-2", "0-0", "0-0 1-1", ""), tmp_path / "links", list[Event]()
    before = rows_of(given_links(tmp_path, corpus, *lines).tokens(store, folder, silent))
    links = folder / "links.ids"
    assert links.stat().st_size == 2 * 2 * sum(map(len, before))
    links.write_bytes(bytes([links.read_bytes()[0] ^ 1]) + links.read_bytes()[1:])
    again = given_links(tmp_path, corpus, *lines).tokens(store, folder, notes.append)
    assert rows_of(again) == before
    assert "made again (reading word alignments)" in str(notes[0])
    others = given_links(tmp_path, corpus, "", "", "0-0", "").tokens(store, folder, silent)
    assert rows_of(others) == [[], [[0, 0], [0, 1], [0, 2]], []]


def test_a_no_break_space_parts_no_words_of_links(tmp_path: Path) -> None:
    text = "la\N{NO-BREAK SPACE}voiture rouge"
    for name in ("train.en", "train.fr", "val.en", "val.fr"):
        write_lines(tmp_path / name, [text])
    corpus = translation_splits([tmp_path], "en", "fr").train
    links = given_links(tmp_path, corpus, "1-1")
    for tokenizer, red in (WORDS, range(2, 3)), (LETTERS, range(11, 16)):
        store = encoded(corpus, tokenizer, tokenizer, tmp_path / f"{len(red)}")
        [row] = rows_of(links.tokens(store, tmp_path / f"{len(red)}" / "links", silent))
        assert {i for i, _ in row} == set(red)
    with pytest.raises(DataError, match="with 2 and 2 words"):
        given_links(tmp_path, corpus, "2-2")


def test_a_file_that_does_not_belong_to_the_text_is_refused(corpus: PairCorpus, tmp_path: Path) -> None:
    for lines, complaint in (
        (["1-2", "", "0-0"], "word alignments of 4 pairs, a line each, but has 3 lines"),
        (["1-2", "", "0-2", ""], r"train\.links:3 should link the words of a pair with 2 and 2 words"),
        (["1-2", "", "0 0", ""], r"train\.links:3: a word link should read i-j"),
    ):
        with pytest.raises(DataError, match=complaint):
            given_links(tmp_path, corpus, *lines)


def test_learnt_links_are_read_again_and_are_the_same_where_they_are_found_a_block_at_a_time(
    store: ExampleStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = []
    first, again = (
        learnt_links(LearntGuide(), store, tmp_path / "learnt.links", report) for report in (silent, events.append)
    )
    assert len(first) == len(store) and rows_of(first) == rows_of(again) != []
    assert not events
    monkeypatch.setattr("anaphora.inference.alignment.links.BLOCK", 2)
    assert rows_of(learnt_links(LearntGuide(), store, tmp_path / "in-blocks", silent)) == rows_of(first)


def test_a_guided_translator_is_trained_by_learnt_links_or_by_a_file_and_not_resumed_with_others(
    toy_pairs: Path, tmp_path: Path
) -> None:
    write_lines(tmp_path / "links", ["0-0"] * 12)
    file = f"guided_alignment={{kind='file',file='{tmp_path}/links',weight=%s}}"
    asked = {"none": [], "learn": ["guided_alignment=learn"], "file": [file % 0.5], "heavy": [file % 2.0]}
    settings = {name: ["training.epochs=1", *of_one] for name, of_one in asked.items()}
    runs = {
        name: read_experiment(TINY_TRANSLATOR, "test.toml", of_one, data=[toy_pairs], target="fr")
        for name, of_one in settings.items()
    }
    for name, guided in runs.items():
        train(guided, tmp_path / name)
    assert len({Run.open(tmp_path / name).metrics.lines()[-1]["validation"]["loss"] for name in runs}) == 4
    assert (tmp_path / "learn" / "encoded" / "train.links" / "header.json").exists()
    write_lines(tmp_path / "links", ["0-0"] * 11 + [""])
    with pytest.raises(RunError, match="data/guide has changed"):
        train(runs["file"], tmp_path / "file", resume=True)
