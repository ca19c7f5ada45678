import hashlib
from pathlib import Path

import pytest

from anaphora.errors import ConfigError
from anaphora.formats.pharaoh import each_links
from anaphora.samples.draws import Splits
from anaphora.samples.english_french import MAX_WORDS, Pair, corpus, write


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
