"""Pairs of texts: their fields, and their batches for training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from random import Random
from typing import Any

import numpy as np

from anaphora.batch import Batch, Ids, Supervision
from anaphora.data.columns import Integers
from anaphora.data.example_batches import BucketedBatches, LazyBatches, Side, prediction_batches
from anaphora.data.example_store import ExampleStore
from anaphora.data.fields.tokens import Tokens
from anaphora.data.mixture import Mixture
from anaphora.data.ragged import Ragged
from anaphora.text.resegmentation import Resegment
from anaphora.text.tokenizer import Tokenizer


def pair_fields(tokenizers: Mapping[str, Tokenizer]) -> tuple[Tokens, Tokens]:
    """Return the fields of source and target, by the ``tokenizers`` of these names."""
    source, target = tokenizers["source"], tokenizers["target"]
    return Tokens("source", source, itemgetter(0)), Tokens("target", target, itemgetter(1))


class PairBatches(BucketedBatches):
    """Training batches of a store of pairs, from long targets to short, then from long sources to short."""

    def __init__(
        self,
        store: ExampleStore,
        *,
        batch_tokens: int,
        seed: int,
        shuffle_window: int = 0,
        resegment: tuple[Resegment | None, Resegment | None] = (None, None),
        alignments: Ragged | None = None,
        mixture: Mixture | None = None,
    ) -> None:
        """The length of a row is that of its longest side with its ``</s>``.

        ``resegment``, for source and target where given, draws another segmentation of every row: a function of (seed,
        epoch, side, id of the pair) alone. Batches are made by the lengths of the store, so that finer rows may take
        some more. ``alignments`` between the tokens of each row (i_0 j_0 i_1 j_1 ..), where given, supervise the
        batches; rows are then segmented as they are stored. A ``mixture`` says which rows an epoch has, and the tags in
        front of their sources, which no word is aligned to.
        """
        super().__init__(store.numbers, batch_tokens, seed, shuffle_window)
        self._resegment, self._alignments = resegment, alignments
        self._mixture = mixture or Mixture([len(store)], [len(store)], [()], seed)
        self._source, self._target = (Side(field, store.rows(field)) for field in store.fields)

    def _rows(self, epoch: int) -> Integers:
        return self._mixture.epoch(epoch)

    def _lengths(self, start: int, stop: int) -> Sequence[Integers]:
        """Return the lengths of the longer side, of the target and of the source."""
        source, target = (
            side.field.lengths(Ragged(side.rows.ids, side.rows.offsets[start : stop + 1]))
            for side in (self._source, self._target)
        )
        source = source + self._mixture.tag_counts(np.arange(start, stop))
        return np.maximum(source, target), target, source

    def _batch(self, epoch: int, rows: Integers) -> Batch:
        sources, source_rows = self._segment(0, epoch, rows)
        targets, target_rows = self._segment(1, epoch, rows)
        order = np.lexsort((rows, -sources.lengths_of(source_rows), -targets.lengths_of(target_rows)))
        rows = rows[order]
        tagged = with_prefixes(sources, source_rows[order], self._mixture.tags(rows))
        inputs = self._source.field.items(tagged, np.arange(len(rows)))
        outputs = self._target.field.items(targets, target_rows[order])
        batch = Batch.of_rows(self._numbers[rows], inputs, outputs)
        if self._alignments is None:
            return batch
        links = self._alignments.split(rows), self._mixture.tag_counts(rows)
        alignments_BTS = _distributions(*links, batch.target_ids, batch.input_ids)
        return replace(batch, supervision=Supervision(alignments_BTS=alignments_BTS))

    def _segment(self, side: int, epoch: int, rows: Integers) -> tuple[Ragged, Integers]:
        """Return the rows of a side with their places: in the store, or segmented again and next to each other."""
        stored: Ragged = (self._source, self._target)[side].rows
        again = self._resegment[side]
        if again is None:
            return stored, rows
        numbers = self._numbers[rows].tolist()
        generators = (Random(f"{self._seed} {epoch} {side} {number}") for number in numbers)
        texts = (row.tolist() for row in stored.split(rows))
        return Ragged.of(again(ids, draw) for ids, draw in zip(texts, generators, strict=True)), np.arange(len(rows))


def scored_batches(store: ExampleStore, batch_tokens: int, tags: Sequence[int] = ()) -> LazyBatches:
    """Return the pairs of a store in batches without more padding than search has, the same every time.

    ``tags`` stand in front of all sources.
    """
    sources, targets = (Side(field, store.rows(field)) for field in store.fields)
    if tags:
        every = np.arange(len(store))
        sources = Side(sources.field, with_prefixes(sources.rows, every, len(store) * [np.array(tags)]))
    return prediction_batches(sources, batch_tokens, targets)


def with_prefixes(stored: Ragged, rows: Integers, prefixes: Sequence[Integers]) -> Ragged:
    """Return some rows with a prefix each, held in memory."""
    pairs = list(zip(prefixes, stored.split(rows), strict=True))
    ids = np.concatenate([np.zeros(0, np.int64), *(part for pair in pairs for part in pair)])
    return Ragged.of_lengths(ids, np.array([len(prefix) + len(row) for prefix, row in pairs]))


def _distributions(alignments: Sequence[Integers], tags_B: Integers, targets: Ids, inputs: Ids) -> np.ndarray[Any, Any]:
    """Return for every target position the uniform distribution over the input positions that it is aligned to.

    These follow the tags of each row.
    """
    p_BTS = np.zeros((*targets.ids_BT.shape, inputs.ids_BT.shape[1]), dtype=np.float32)
    for p_TS, pairs, tags in zip(p_BTS, alignments, tags_B.tolist(), strict=True):
        i_L, j_L = pairs.reshape(-1, 2).T
        p_TS[j_L, i_L + tags] = 1
    p_BTS *= inputs.mask_BT[:, np.newaxis]  # attention does not look at features
    return np.asarray(p_BTS / np.maximum(p_BTS.sum(2, keepdims=True), 1))
