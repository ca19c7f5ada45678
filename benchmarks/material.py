"""The text that both sides read, made once from fetched corpora and kept under ``.material``.

A folder of pairs holds ``sp.model`` (joint byte-pair units), ``sp.vocab`` (its pieces, one a line), ``train.en`` and
``train.de`` (in a seeded order), ``val.en`` and ``val.de``, and ``test.en`` and ``test.de``, all lower-cased. Batch n
is pairs 64 n to 64 n + 63 where speed is measured: the same sentences beside each other, whoever trains.
"""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.data.buckets import shuffle
from anaphora.data.columns import Integers
from anaphora.data.example_batches import LazyBatches
from anaphora.data.fetch import corpus_folder
from anaphora.data.ragged import Ragged
from anaphora.data.running_text import TextWindows
from anaphora.formats.lines import read_lines
from anaphora.protocols import VocabularyInfo
from anaphora.text.normalise import normalise
from anaphora.text.subwords import SubwordTokenizer

SENTENCES = 64
"""Pairs of a training batch."""

_HOME = Path(__file__).parent / ".material"
_BATCHES = 48
_SEED = 1
_PARTS = {"train": "train", "val": "val", "test": "test_2016_flickr"}


def pairs_folder(units: int) -> Path:
    """The folder of Multi30k pairs with a joint vocabulary of ``units``; see ``prepare_pairs``."""
    return _HOME / f"multi30k-en-de-{units}"


def prepare_pairs(units: int) -> None:
    """Make the folder where it is not there yet; DataError with the command that fetches the corpus."""
    folder = pairs_folder(units)
    if folder.is_dir():
        return
    corpus = corpus_folder("multi30k")
    text = {(part, side): _lines(corpus / f"{file}.{side}") for part, file in _PARTS.items() for side in ("en", "de")}
    both = text["train", "en"] + text["train", "de"]
    tokenizer = SubwordTokenizer.learn(both, size=units, lowercase=True, byte_fallback=False)
    order = shuffle(len(text["train", "en"]), _SEED)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    (part / "sp.model").write_bytes(tokenizer.serialise())
    _write(part / "sp.vocab", tokenizer.pieces(range(tokenizer.symbols.size)))
    for side in ("en", "de"):
        _write(part / f"train.{side}", [text["train", side][row] for row in order])
        _write(part / f"val.{side}", text["val", side])
        _write(part / f"test.{side}", text["test", side])
    part.rename(folder)


def tokenizer_of(units: int) -> SubwordTokenizer:
    """The vocabulary of a prepared folder."""
    return SubwordTokenizer((pairs_folder(units) / "sp.model").read_bytes(), lowercase=True)


class SentenceBatches:
    """The first training pairs of a prepared folder, 64 a batch in their order; meets ``protocols.Batches``."""

    def __init__(self, units: int) -> None:
        """Everything is encoded here, once."""
        tokenizer, folder = tokenizer_of(units), pairs_folder(units)
        self._symbols = tokenizer.symbols
        self._sides = [
            Ragged.of(tokenizer.encode(line) for line in _lines(folder / f"train.{side}")[: _BATCHES * SENTENCES])
            for side in ("en", "de")
        ]

    def epoch(self, number: int) -> LazyBatches:
        """The same in every epoch."""
        return LazyBatches(np.split(np.arange(_BATCHES * SENTENCES), _BATCHES), self._batch)

    def _batch(self, rows: Integers) -> Batch:
        sources, targets = self._sides
        rows = rows[np.argsort(-targets.lengths[rows], kind="stable")]
        return Batch(
            inputs=pad(sources.split(rows), end=self._symbols.eos, value=self._symbols.pad),
            targets=pad(targets.split(rows), end=self._symbols.eos, value=self._symbols.pad),
            example_ids_B=rows,
            carry_mask_B=np.zeros(len(rows), dtype=np.bool_),
        )


def test_sources(units: int) -> list[str]:
    """The sources of the test part."""
    return _lines(pairs_folder(units) / "test.en")


def prepare_treebank() -> None:
    """Nothing is made; DataError with the command that fetches the Penn Treebank where it is missing."""
    corpus_folder("ptb")


def treebank_windows(rows: int, steps: int) -> tuple[TextWindows, VocabularyInfo]:
    """The Penn Treebank's training text by words, its 9,999 and ``</s>``, in windows of ``steps`` over ``rows``."""
    words = [word for line in _lines(corpus_folder("ptb") / "ptb.train.txt") for word in [*line.split(), "</s>"]]
    ids = {word: number for number, (word, _) in enumerate(Counter(words).most_common())}
    end = ids["</s>"]
    text = np.array([end, *(ids[word] for word in words)], dtype=np.int64)
    symbols = VocabularyInfo(size=len(ids), pad=end, unk=ids["<unk>"], bos=end, eos=end)
    return TextWindows(text, rows=rows, steps=steps), symbols


def _lines(path: Path) -> list[str]:
    return [normalise(line, lowercase=True) for line in read_lines(path)]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
