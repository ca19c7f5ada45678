"""Tagged sentences as ids: encoded once into columns, and in batches of similar length.

Distinct words, and distinct tags, are encoded once each; a token is the number of its word and the number of its tag.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from anaphora.batch import Batch, Ids, Items, SpeltIds, Values, pad
from anaphora.data.bucketed import BucketedBatches
from anaphora.data.buckets import cut
from anaphora.data.columns import UNBOUNDED, Integers, Table, Writer
from anaphora.data.example_batches import LazyBatches
from anaphora.data.ragged import Ragged
from anaphora.data.tagged import TaggedCorpus
from anaphora.errors import DataError
from anaphora.events import Report, Skipped, silent
from anaphora.formats.tagged import NO_LABEL, Sentence, labels_of
from anaphora.text.normalise import normalise
from anaphora.text.tokenizer import BOS, EOS, MARKS, UNK
from anaphora.text.words import WordTokenizer
from anaphora.wording import counted


class TagEncoder:
    """Tags as the numbers of their labels."""

    def __init__(self, tags: WordTokenizer, several: bool) -> None:
        """The labels; ``several`` of them may be in a tag."""
        self.tags, self.several = tags, several

    def labels(self, tag: str) -> list[int]:
        """The numbers of its labels, one unless there may be several; KeyError for one that is unknown."""
        return [self._tags[label] for label in (labels_of(tag) if self.several else [tag])]

    def tag(self, labels: Iterable[int]) -> str:
        names = [self.tags.vocabulary[label] for label in labels]
        return ("|".join(names) or NO_LABEL) if self.several else names[0]

    def targets(self, tags: Ids, labels: Sequence[Sequence[int]]) -> Items:
        """The label of each step, or 1 for each of its labels: ``tags`` are numbers of rows of ``labels``."""
        if not self.several:
            labels_W = torch.tensor([found[0] for found in labels])
            return Ids(labels_W[tags.ids_BT], tags.lengths_B)
        labels_WC = torch.zeros(len(labels), len(self.tags.vocabulary))
        for number, found in enumerate(labels):
            labels_WC[number, list(found)] = 1
        return Values(labels_WC[tags.ids_BT], tags.lengths_B)

    @cached_property
    def _tags(self) -> Mapping[str, int]:
        return {tag: number for number, tag in enumerate(self.tags.vocabulary)}


class TokenEncoder(TagEncoder):
    """Words, their characters and their tags as ids."""

    def __init__(
        self, words: WordTokenizer, characters: WordTokenizer, tags: WordTokenizer, several: bool, longest: int
    ) -> None:
        """The vocabularies; ``several`` labels may be in a tag; of a word its first ``longest`` characters are read."""
        super().__init__(tags, several)
        self.words, self.characters, self._longest = words, characters, longest

    @property
    def identity(self) -> list[object]:
        """All that decides which ids there are."""
        vocabularies = [tokenizer.fingerprint for tokenizer in (self.words, self.characters, self.tags)]
        return [*vocabularies, self.several, self._longest]

    def word(self, word: str) -> int:
        return self._words.get(self.words.normal(word), UNK)

    def letters(self, word: str) -> list[int]:
        """The ids of its characters, between a begin and an end."""
        plain = normalise(self.words.plain(word))[: self._longest]
        return [BOS, *(self._letters.get(letter, UNK) for letter in plain), EOS]

    @cached_property
    def _words(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words.vocabulary, len(MARKS))}

    @cached_property
    def _letters(self) -> Mapping[str, int]:
        return {letter: number for number, letter in enumerate(self.characters.vocabulary, len(MARKS))}


@dataclass(frozen=True)
class TokenTable:
    """Sentences as numbers of distinct words, and what each of these is."""

    sentences: Ragged
    """The distinct word of each token."""
    words_W: Integers
    """The id of each distinct word."""
    letters: Ragged
    """The characters of each distinct word."""

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]], tokenizer: TokenEncoder) -> "TokenTable":
        """Sentences held in memory."""
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(word, len(numbers)) for word in sentence] for sentence in sentences]
        words = np.array([tokenizer.word(word) for word in numbers], dtype=np.int64)
        return cls(Ragged.of(rows), words, Ragged.of(map(tokenizer.letters, numbers)))

    def inputs(self, rows: Integers) -> SpeltIds:
        """Some of the sentences as a rectangle."""
        tokens = self.sentences.each(rows)
        distinct_N, places = np.unique(np.concatenate(tokens), return_inverse=True)
        lengths = [len(row) for row in tokens]
        words = pad(np.split(places, np.cumsum(lengths)[:-1]))
        characters = pad(self.letters.each(distinct_N))
        ids_N = torch.from_numpy(np.asarray(self.words_W[distinct_N]).astype(np.int64))
        return SpeltIds(ids_N[words.ids_BT], words.lengths_B, words.ids_BT, characters.ids_BT, characters.lengths_B)


@dataclass(frozen=True)
class TaggedStore:
    """Encoded sentences with their tags."""

    tokens: TokenTable
    tags: Ragged
    """The distinct tag of each token."""
    labels: Ragged
    """The labels of each distinct tag."""


def tagged_store(
    corpus: TaggedCorpus, tokenizer: TokenEncoder, folder: Path, *, longest: int = 0, report: Report = silent
) -> TaggedStore:
    """The corpus as ids: from ``folder`` if it was encoded there before with the same vocabularies, else encoded now.

    With ``longest`` > 0, sentences of more tokens are left out (a Skipped). Raises DataError with its line for a tag
    that is unknown, and when no sentence is left.
    """

    def encode(into: Writer) -> dict[str, int]:
        words, tags, skipped = dict[str, int](), dict[str, int](), 0
        for number, (path, sentence) in enumerate(corpus.examples(), 1):
            into.tell(number)
            if longest and len(sentence.words) > longest:
                skipped += 1
                continue
            for word in sentence.words:
                if word not in words:
                    words[word] = len(words)
                    into.write("words", [tokenizer.word(word)])
                    into.add("letters", tokenizer.letters(word))
            for place, tag in enumerate(sentence.tags):
                if tag not in tags:
                    tags[tag] = len(tags)
                    into.add("labels", known_labels(tokenizer, path, sentence, place))
            into.add("sentences", [words[word] for word in sentence.words])
            into.write("tags", [tags[tag] for tag in sentence.tags])
        return {"skipped": skipped}

    sizes = {"words": tokenizer.words, "letters.ids": tokenizer.characters, "labels.ids": tokenizer.tags}
    unbounded = ("sentences.ids", "sentences.ends", "letters.ends", "labels.ends", "tags")
    columns = {name: one.symbols.size for name, one in sizes.items()} | dict.fromkeys(unbounded, UNBOUNDED)
    identity = [corpus.fingerprint, *tokenizer.identity, longest]
    task = f"encoding {corpus.name}"
    table = Table(folder, identity, columns, encode, task=task, total=corpus.count, report=report)
    if skipped := table.facts["skipped"]:
        report(Skipped(f"sentences of more than {counted(longest, 'token')} were left out of {corpus.name}", skipped))
    if len(table["sentences.ends"]) < 2:
        raise DataError(
            f"Every sentence of {corpus.name} has more than {counted(longest, 'token')}: raise data.max_length."
        )
    sentences = Ragged(table["sentences.ids"], table["sentences.ends"])
    letters, labels = (Ragged(table[f"{name}.ids"], table[f"{name}.ends"]) for name in ("letters", "labels"))
    tokens = TokenTable(sentences, np.asarray(table["words"]), letters)
    return TaggedStore(tokens, Ragged(table["tags"], table["sentences.ends"]), labels)


def known_labels(tokenizer: TokenEncoder, path: Path, sentence: Sentence, place: int) -> list[int]:
    """The labels of a token; DataError with its line for one that training does not have."""
    tag = sentence.tags[place]
    try:
        return tokenizer.labels(tag)
    except KeyError as error:
        known = ", ".join(tokenizer.tags.vocabulary[:12]) + (", ..." if len(tokenizer.tags.vocabulary) > 12 else "")
        raise DataError(
            f"{path}:{sentence.line_of(place)} has the tag '{error.args[0]}', which the training split has not "
            f"({known}): correct it, or train with sentences that have it."
        ) from None


class TaggedBatches(BucketedBatches):
    """Training batches of a TaggedStore."""

    def __init__(self, store: TaggedStore, tokenizer: TokenEncoder, *, batch_tokens: int, seed: int) -> None:
        """In a batch, rows times the longest are at most ``batch_tokens``."""
        super().__init__(store.tokens.sentences.lengths, batch_tokens, seed)
        self._store, self._tokenizer = store, tokenizer
        self._labels = [row.tolist() for row in store.labels.each(np.arange(len(store.labels)))]

    def _batch(self, rows: Integers) -> Batch:
        targets = self._tokenizer.targets(pad(self._store.tags.each(rows)), self._labels)
        return batch_of(self._store.tokens, rows, targets)


def batch_of(table: TokenTable, rows: Integers, targets: Items | None = None) -> Batch:
    """Some sentences as a batch; the example ids are their places in the table."""
    return Batch.of_rows(rows, table.inputs(rows), targets)


def prediction_batches(table: TokenTable, batch_tokens: int) -> LazyBatches:
    """Batches for prediction, from long sentences to short; a sentence without words is in none."""
    lengths = table.sentences.lengths
    order = np.argsort(-lengths, kind="stable")
    return LazyBatches(cut(order[lengths[order] > 0], lengths, batch_tokens), lambda rows: batch_of(table, rows))
