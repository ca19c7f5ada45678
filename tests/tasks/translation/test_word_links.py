"""Words of pairs linked: links guide attention, annotate rare words, and put placeholders into training pairs."""

import json
import random
from collections.abc import Mapping, Sequence
from operator import ne
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import anaphora
from anaphora.data.corpora import Pair, PairCorpus
from anaphora.data.example_store import ExampleStore, example_store
from anaphora.data.pairs import pair_fields
from anaphora.data.ragged import Ragged
from anaphora.data.sources import translation_splits
from anaphora.errors import ConfigError, DataError, RunError
from anaphora.events import Event, Note, silent
from anaphora.experiment.check import check
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.models.translator import GivenGuide, LearntGuide
from anaphora.run import Run
from anaphora.samples import english_french
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.training_job import TrainingContext
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.training import TranslationJob
from anaphora.tasks.translation.word_links import GivenLinks, common_placeholders, learnt_links
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.placeholders import RESERVED
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, Rare
from anaphora.text.tokenizer import MARKS, UNK, Tokenizer
from anaphora.text.words import WordTokenizer

from ...conftest import NETWORK, TINY_TRANSLATOR

TEXT = f"""
task = "translate"
{NETWORK}[training]
batch_tokens = 400
epochs = 1
"""


def experiment(folder: Path, *settings: str) -> ExperimentBase:
    return read_experiment(TEXT, "test.toml", settings, data=[folder], target="fr")


def job_of(experiment: ExperimentBase) -> TranslationJob:
    return TranslationJob(experiment, silent)  # type: ignore[arg-type]


def write_pairs(folder: Path, **splits: Sequence[Pair]) -> None:
    for name, pairs in splits.items():
        for place, side in enumerate(("en", "fr")):
            write_lines(folder / f"{name}.{side}", (pair[place] for pair in pairs))


SOURCES = ["the red house", "", "a house", "the car is red"]
TARGETS = ["la maison rouge", "vide", "une maison", "la voiture est rouge"]
WORDS = WordTokenizer(
    sorted({w for line in SOURCES for w in line.split()}), lowercase=False, segmentation="whitespace", language="en"
)
LETTERS = CharacterTokenizer(sorted({c for line in TARGETS for c in line}), lowercase=False)


@pytest.fixture
def corpus(tmp_path: Path) -> PairCorpus:
    """Four pairs, of which training leaves out the second."""
    pairs = list(zip(SOURCES, TARGETS, strict=True))
    write_pairs(tmp_path, train=pairs, val=pairs[:1])
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


def test_links_between_words_become_links_of_tokens(corpus: PairCorpus, store: ExampleStore, tmp_path: Path) -> None:
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


def test_links_of_a_file_follow_their_pairs_where_long_ones_are_left_out(corpus: PairCorpus, tmp_path: Path) -> None:
    store = encoded(corpus, WORDS, WORDS, tmp_path, longest=3)
    assert store.numbers[:].tolist() == [0, 1]
    links = given_links(tmp_path, corpus, "1-1", "0-0", "0-1", "3-3")
    assert rows_of(links.tokens(store, tmp_path / "links", silent)) == [[[1, 1]], [[0, 1]]]


def test_links_on_disk_are_small_and_remade_if_damaged(corpus: PairCorpus, store: ExampleStore, tmp_path: Path) -> None:
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
    write_pairs(tmp_path, train=[(text, text)], val=[(text, text)])
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
    events, file = list[Event](), tmp_path / "learnt.links"
    first, again = (learnt_links(LearntGuide(), store, file, report) for report in (silent, events.append))
    assert len(first) == len(store) and rows_of(first) == rows_of(again) != []
    assert not events
    monkeypatch.setattr("anaphora.inference.alignment.links.BLOCK", 2)
    assert rows_of(learnt_links(LearntGuide(), store, tmp_path / "in-blocks", silent)) == rows_of(first)


def test_guides_are_learnt_or_files_and_not_resumed_with_others(toy_pairs: Path, tmp_path: Path) -> None:
    write_lines(tmp_path / "links", ["0-0"] * 12)
    file = f"guided_alignment={{kind='file',file='{tmp_path}/links',weight=%s}}"
    asked = {"none": [], "learn": ["guided_alignment=learn"], "file": [file % 0.5], "heavy": [file % 2.0]}
    runs = {
        name: read_experiment(TINY_TRANSLATOR, "t.toml", ["training.epochs=1", *of_one], data=[toy_pairs], target="fr")
        for name, of_one in asked.items()
    }
    for name, guided in runs.items():
        train(guided, tmp_path / name)
    assert len({Run.open(tmp_path / name).metrics.lines()[-1]["validation"]["loss"] for name in runs}) == 4
    assert (tmp_path / "learn" / "encoded" / "train.links" / "header.json").exists()
    write_lines(tmp_path / "links", ["0-0"] * 11 + [""])
    with pytest.raises(RunError, match="data/guide has changed"):
        train(runs["file"], tmp_path / "file", resume=True)


KINDS: list[Rare] = ["copyable", "posall", "posunk"]


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pairs of English and French."""
    folder, splits = tmp_path_factory.mktemp("rare"), english_french.corpus(2, train=120, valid=8, test=20)
    for name, split in zip(("train", "val", "test"), splits, strict=True):
        write_pairs(folder, **{name: [(" ".join(one.source_words), " ".join(one.target_words)) for one in split]})
    return folder


def annotated(folder: Path, rare: Rare, *settings: str) -> ExperimentBase:
    text = f'text={{tokenizer="word",segmentation="whitespace",size=50,rare="{rare}"}}'
    return experiment(folder, text, *settings)


def begun(of: ExperimentBase, tokenizers: Mapping[str, Tokenizer], path: Path) -> TrainingContext:
    run: Any = SimpleNamespace(path=path)
    return TrainingContext(run, of, torch.nn.Module(), tokenizers)


def test_outputs_that_ask_for_counts_are_told_those_of_annotated_targets(english: Path, tmp_path: Path) -> None:
    job = job_of(of := annotated(english, "posall", "output=nce"))
    of_run = begun(of, job.learn_vocabulary(silent), tmp_path)
    counted = job.counts(of_run, silent)
    batches = job.batches(of_run, silent).epoch(1)
    expected = np.zeros(len(counted), np.int64)
    for batch in batches:
        inside_BT = np.arange(batch.target_ids.ids_BT.shape[1]) < batch.target_ids.lengths_B[:, None]
        expected += np.bincount(batch.target_ids.ids_BT[inside_BT], minlength=len(counted))
    assert counted.tolist() == expected.tolist()


@pytest.mark.parametrize("rare", KINDS)
def test_stored_targets_are_annotated_and_read_as_they_were(rare: Rare, english: Path, tmp_path: Path) -> None:
    job = job_of(of := annotated(english, rare))
    tokenizers = job.learn_vocabulary(silent)
    source, target = tokenizers["source"], tokenizers["target"]
    assert isinstance(target, AnnotatedTokenizer) and len(target.dictionary) > 60
    lines = {target.decode(target.encode(line)) for line in (english / "train.fr").read_text().splitlines()}
    pointed = unknown = 0
    for batch in job.batches(begun(of, tokenizers, tmp_path), silent).epoch(1):
        for row, (ids, length) in enumerate(zip(batch.target_ids.ids_BT, batch.target_ids.lengths_B, strict=True)):
            written = ids[: length - 1].tolist()
            read = batch.input_ids.ids_BT[row, : batch.input_ids.lengths_B[row] - 1].tolist()
            assert target.decode(written) in lines
            found = target.resolve(written, read)
            pointed += sum(place >= 0 for place in found.sources)
            unknown += len(found.sources)
    assert unknown > 100 and pointed > (0.3 if rare == "copyable" else 0.8) * unknown
    assert (UNK in target.encode("zebra")) and source.symbols.size == 50


def urge(path: Path, words: tuple[str, ...]) -> None:
    """Let the best weights of a run write these words of the target far more often than they learnt to."""
    run = Run.open(path)
    best, target = run.load("best"), run.tokenizers()["target"]
    assert isinstance(target, AnnotatedTokenizer) and isinstance(best.which, int)
    bias_V = best.model["output.bias"].copy()
    bias_V[[UNK if word == MARKS[UNK] else len(MARKS) + target.vocabulary.index(word) for word in words]] += 5
    run.fingerprints |= best.fingerprints
    run.save(best.which, {**best.model, "output.bias": bias_V}, {}, best.state)


@pytest.mark.parametrize(
    ("rare", "urged"), [("copyable", ("<unk:1>",)), ("posall", ("<unk>", "<at:0>")), ("posunk", ("<unk:0>",))]
)
def test_words_are_written_for_annotations(rare: Rare, urged: tuple[str, ...], english: Path, tmp_path: Path) -> None:
    train(annotated(english, rare), tmp_path / "run")
    urge(tmp_path / "run", urged)
    translator = anaphora.load(tmp_path / "run", kind=TranslationPredictor)
    lines = (english / "test.en").read_text().splitlines()
    translations = translator.translate(lines, beam=2, alternatives=1, attention=True)
    vocabulary = json.loads((tmp_path / "run" / "vocabulary" / "target").read_bytes())
    known = {"<unk>", *vocabulary["words"]}
    assert sum(word not in known for found in translations for word in found.text.split()) > 20
    for found, line in zip(translations, lines, strict=True):
        assert "<unk:" not in found.text and "<at:" not in found.text
        assert found.weights is not None and len(found.weights) == len(found.target_pieces)
        assert all(i < len(line.split()) for i, _ in found.links())
    assert "dictionary" in vocabulary
    for refused in (lambda: translator.score_pairs(["a"], ["b"]), lambda: translator.translate(["a"], known=True)):
        with pytest.raises(ConfigError, match=f"text.rare = '{rare}'"):
            refused()


def test_annotations_are_the_same_in_blocks_and_are_linked_by_a_sample_of_very_many_pairs(
    english: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, job = [], job_of(of := annotated(english, "posunk"))
    tokenizers = job.learn_vocabulary(silent)
    for block in 1000, 7:
        monkeypatch.setattr("anaphora.tasks.translation.word_links.BLOCK", block)
        job.batches(begun(of, tokenizers, tmp_path / f"{block}"), silent)
        stored.append((tmp_path / f"{block}" / "encoded" / "train" / "target.ids").read_bytes())
    assert stored[0] == stored[1]
    monkeypatch.setattr("anaphora.tasks.translation.word_links._PAIRS", 50)
    events: list[Event] = []
    job_of(annotated(english, "posunk")).learn_vocabulary(events.append)
    [said] = [event.text for event in events if isinstance(event, Note) and "linked" in event.text]
    assert "what 50 of 120 pairs show" in said


def test_an_annotated_experiment_is_checked_with_a_trial(english: Path) -> None:
    checked = check(annotated(english, "posunk"), trial=0.5)
    assert checked.trainable and checked.estimates


FIRST = [a + b + c for a in "bdgkmp" for b in "aiou" for c in "lnr"]


def other(word: str) -> str:
    """The translation of a word."""
    return word[::-1].upper()


def pairs(count: int, seed: int) -> list[Pair]:
    """Sentences of invented words, frequent ones among them, and their translations, last word first."""
    draw = random.Random(seed)
    lines = [draw.choices(FIRST[:7], k=3) + draw.sample(FIRST[7:], 4) for _ in range(count)]
    for line in lines:
        draw.shuffle(line)
    return [(" ".join(line), " ".join(map(other, reversed(line)))) for line in lines]


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pairs of invented words."""
    folder = tmp_path_factory.mktemp("invented")
    write_pairs(folder, train=pairs(400, 1), val=pairs(20, 2))
    return folder


def placed(folder: Path, fraction: float, *settings: str) -> ExperimentBase:
    return experiment(folder, 'text={tokenizer="bpe",size=400}', f"data.placeholders={fraction}", *settings)


def learnt_from(folder: Path, fraction: float, *settings: str) -> Sequence[Pair]:
    job = job_of(placed(folder, fraction, *settings))
    assert job.learnt_from.count == 400
    return list(job.learnt_from)


def reserved(text: str) -> list[str]:
    return [word for word in text.split() if word in RESERVED]


def test_a_word_and_its_translation_become_the_same_reserved_word_and_all_else_stays(invented: Path) -> None:
    plain, changed = pairs(400, 1), learnt_from(invented, 0.5)
    for (source, target), (ours, theirs) in zip(plain, changed, strict=True):
        named = {name: word for name, word in zip(ours.split(), source.split(), strict=True) if name in RESERVED}
        assert sorted(named) == sorted(reserved(ours)) == sorted(reserved(theirs))
        assert " ".join(named.get(word, word) for word in ours.split()) == source
        assert " ".join(other(named[word]) if word in named else word for word in theirs.split()) == target
        assert not set(named.values()) & set(FIRST[:4])  # those are too frequent
    assert 150 < sum(map(ne, plain, changed)) < 250
    assert {1, 2} == {len(reserved(ours)) for ours, _ in changed} - {0}


def test_what_is_placed_is_a_function_of_seed_and_fraction(invented: Path) -> None:
    first = learnt_from(invented, 0.3)
    assert first == learnt_from(invented, 0.3) != learnt_from(invented, 0.3, "training.seed=2")
    assert learnt_from(invented, 0.0) == pairs(400, 1)


KEPT = ["{name}", "%s", "https://example.org/a?b", "me@example.org", "[X3X]", "${v}"]


@given(st.lists(st.sampled_from([*KEPT, "word", "<b>", "15"]), max_size=9), st.randoms())
def test_common_placeholders_are_those_that_each_side_has_once(words: list[str], draw: random.Random) -> None:
    other = draw.sample(words, len(words))
    source, target = " ".join(words), " ".join(other)
    found = [(source[i:j], target[k:n]) for (i, j), (k, n) in common_placeholders((source, target))]
    kept = [word for word in words if word in KEPT]
    assert found == ([(one, one) for one in kept] if len({*kept}) == len(kept) else [])
    if kept:
        assert not common_placeholders((source, target.replace(kept[0], "")))


@pytest.mark.parametrize("text", ['{tokenizer="bpe",size=400}', '{tokenizer="word"}', '{tokenizer="character"}'])
def test_reserved_words_are_tokens_of_both_sides_and_replace_placeholders(tmp_path: Path, text: str) -> None:
    texts = enumerate(pairs(60, 3))
    lines = [(f"{source} {{n{place}}}", f"{{n{place}}} {target}") for place, (source, target) in texts]
    write_pairs(tmp_path, train=lines, val=pairs(20, 2))
    job = job_of(placed(tmp_path, 0.1, f"text={text}"))
    assert all("{" not in source + target for source, target in job.learnt_from)
    tokenizers = job.learn_vocabulary(silent)
    tokens = {(*tokenizer.encode(word),) for tokenizer in tokenizers.values() for word in RESERVED}
    assert all(len(ids) == 1 and ids != (UNK,) for ids in tokens)
    untrained: Any = None  # no model is asked which words it copies
    translator = TranslationPredictor(untrained, tokenizers["source"], tokenizers["target"])
    assert [one.word for one in translator.stand_ins] == [*RESERVED]


@pytest.mark.slow
def test_a_translator_puts_placeholders_where_their_words_would_be(invented: Path, tmp_path: Path) -> None:
    settings = ["training.epochs=40", "training.optimizer.learning_rate=0.01", "encoder.size=48", "decoder.size=48"]
    train(placed(invented, 0.3, *settings), tmp_path / "run", silent)
    torch.manual_seed(0)
    translator = anaphora.load(tmp_path / "run", kind=TranslationPredictor)
    draw, right = random.Random(4), 0
    for source, _ in pairs(20, 2):
        words = source.split()
        place = draw.randrange(len(words))
        words[place] = "{name}"
        found = translator.translate([" ".join(words)])[0].text.split()
        right += found.index("{name}") == len(words) - 1 - place
    assert right >= 18
