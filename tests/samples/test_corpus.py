import hashlib
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from anaphora.errors import ConfigError
from anaphora.formats.pharaoh import each_links
from anaphora.samples.english_french import CorpusSplits, corpus, sentences, write
from anaphora.samples.english_french.corpus import MAX_WORDS


@pytest.fixture(scope="module")
def splits() -> CorpusSplits:
    return corpus(seed=3, train=6000, valid=150, test=200)


def test_every_split_has_the_requested_size(splits: CorpusSplits) -> None:
    assert [len(split) for split in splits] == [6000, 150, 200]
    assert [len(split) for split in corpus(1, 20, 0, 0)] == [20, 0, 0]
    assert [len(split) for split in corpus(1, 0, 0, 0)] == [0, 0, 0]


def test_no_english_sentence_occurs_twice(splits: CorpusSplits) -> None:
    every = [pair.source for split in splits for pair in split]
    assert len(every) == len(set(every))


def test_splits_share_no_template(splits: CorpusSplits) -> None:
    train, valid, test = ({pair.template for pair in split} for split in splits)
    assert not train & valid and not train & test and not valid & test


def test_training_shows_every_word_and_construction_of_the_other_splits(splits: CorpusSplits) -> None:
    source = {word for pair in splits.train for word in pair.source_words}
    target = {word for pair in splits.train for word in pair.target_words}
    constructions = {one for pair in splits.train for one in pair.template.split(" | ")}
    for pair in (*splits.valid, *splits.test):
        assert source.issuperset(pair.source_words)
        assert target.issuperset(pair.target_words)
        assert constructions.issuperset(pair.template.split(" | "))


def test_held_out_templates_combine_at_least_four_constructions(splits: CorpusSplits) -> None:
    assert min(len(pair.template.split(" | ")) for pair in (*splits.valid, *splits.test)) == 4


def test_sentences_are_short(splits: CorpusSplits) -> None:
    for pair in (pair for split in splits for pair in split):
        assert 3 <= len(pair.source_words) <= MAX_WORDS
        assert 3 <= len(pair.target_words) <= MAX_WORDS


def test_the_vocabulary_is_moderate(splits: CorpusSplits) -> None:
    assert len({word.lower() for pair in splits.train for word in pair.source_words}) < 280
    assert len({word.lower() for pair in splits.train for word in pair.target_words}) < 450


def test_a_longer_stream_begins_with_the_shorter() -> None:
    assert list(sentences(7, 50)) == list(islice(sentences(7, 500), 50))


def test_another_seed_is_another_stream() -> None:
    first, second = ({pair.source for pair in sentences(seed, 200)} for seed in (1, 2))
    assert len(first & second) < 40


def test_a_corpus_is_the_same_in_every_process() -> None:
    code = (
        "import hashlib; from anaphora.samples.english_french import corpus; "
        "print(hashlib.sha256(repr(corpus(9, 400, 20, 20)).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_the_corpus_of_a_seed_never_changes(tmp_path: Path) -> None:
    every = hashlib.sha256()
    for path in sorted(write(tmp_path / "corpus", seed=9, train=400, valid=20, test=20).iterdir()):
        every.update(path.name.encode() + b"\0" + path.read_bytes())
    assert every.hexdigest() == "53ee34eb763eff8a74a9ef493f764b4647e2d30d0505b0f0ce06470ac565c5e0"
    facts = [
        (p.source, p.target, p.links, p.template, p.source_words, p.target_words)
        for split in corpus(3, 6000, 150, 200)
        for p in split
    ]
    digest = hashlib.sha256("\n".join(map(repr, facts)).encode()).hexdigest()
    assert digest == "50226f4c9aa30311d4fe4262da9f9ef44bf6a7220a7597240be60f7fa5621f5b"


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


def test_a_training_split_too_small_to_learn_from_is_refused() -> None:
    with pytest.raises(ConfigError, match="use more training sentences"):
        corpus(1, train=1, valid=5, test=5)


@pytest.mark.parametrize("sizes", [(-1, 0, 0), (10, -1, 0), (10, 0, -5)])
def test_a_negative_size_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError, match="0 sentences or more"):
        corpus(1, *sizes)
