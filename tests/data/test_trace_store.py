"""Encoded sequences are what the files have, scaled; batches hold each once, in an order that the seed decides."""

from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from anaphora.batch import Ids, Values
from anaphora.data.finding import Names
from anaphora.data.trace_store import Scale, TraceBatches, TraceStore, moments, trace_store
from anaphora.data.traces import TraceCorpus, trace_splits
from anaphora.errors import DataError
from anaphora.events import Event, Skipped
from anaphora.formats.traces import Trace
from anaphora.protocols import VocabularyInfo
from anaphora.samples import handwriting
from anaphora.text.characters import CharacterTokenizer

SYMBOLS = VocabularyInfo(40, 0, 1, 2, 3)


@pytest.fixture
def corpus(tmp_path: Path) -> TraceCorpus:
    folder = handwriting.write(tmp_path / "lines", train=12, valid=2, test=2)
    return trace_splits([folder], Names("train", "val", "test")).train


def scale_of(corpus: TraceCorpus) -> Scale:
    raw = Scale(pen=True, offsets=False, upward=False)
    mean, deviation = moments(corpus.examples(), raw.raw)
    return Scale(True, False, False, tuple(mean), tuple(deviation))


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e4, 1e9])
@pytest.mark.parametrize("first", [False, True])
def test_the_deviation_of_long_sequences_does_not_depend_on_where_zero_is(offset: float, first: bool) -> None:
    random = np.random.default_rng(1)
    sequences = [offset + random.integers(-3, 4, (5000, 2)).astype(np.float64) for _ in range(5)]
    if first:
        sequences.insert(0, np.zeros((1, 2)))
    traces = [Trace("", values_TD, None) for values_TD in sequences]
    mean, deviation = moments(iter(traces), lambda trace: trace.values_TD)
    exact_ND = np.concatenate(sequences).astype(np.longdouble)
    assert np.allclose(mean, exact_ND.mean(0).astype(float), rtol=1e-12)
    assert np.allclose(deviation, exact_ND.std(0).astype(float), rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e9 + 0.1])
def test_a_number_that_never_varies_has_the_deviation_1(value: float) -> None:
    traces = [Trace("", np.full((steps, 1), value), None) for steps in (7, 5000, 3)]
    assert moments(iter(traces), lambda trace: trace.values_TD) == ([value], [1.0])


def stored(corpus: TraceCorpus, folder: Path, **options: int) -> TraceStore:
    return trace_store(corpus, scale_of(corpus), None, folder, **options)


def test_decoded_vectors_are_the_points_of_the_files(corpus: TraceCorpus, tmp_path: Path) -> None:
    scale, store = scale_of(corpus), stored(corpus, tmp_path / "encoded")
    for row, trace in enumerate(corpus.examples()):
        sequence = store.sequence(row)
        points_TD = trace.values_TD[0] + np.cumsum(scale.decoded(sequence.targets_TY[:, :2].astype(np.float64)), 0)
        assert np.allclose(points_TD, trace.values_TD[1:], atol=0.01)
        assert trace.ends_T is not None
        assert np.array_equal(sequence.targets_TY[:, 2], trace.ends_T[1:])
        assert np.flatnonzero(sequence.targets_TY[:, 3]).tolist() == [len(points_TD) - 1]
        assert np.array_equal(sequence.read_TX[1:], sequence.targets_TY[:-1, :3])


def test_scaled_vectors_have_mean_0_and_deviation_1(corpus: TraceCorpus) -> None:
    scale = scale_of(corpus)
    every = np.concatenate([scale.encoded(trace)[:, :2] for trace in corpus.examples()])
    assert np.allclose(every.mean(0), 0) and np.allclose(every.std(0), 1)


def test_batches_hold_every_sequence_once_in_an_order_of_seed_and_epoch(corpus: TraceCorpus, tmp_path: Path) -> None:
    store = stored(corpus, tmp_path / "encoded")
    batches = TraceBatches(store, None, batch_tokens=150, seed=1)
    order = [batch.example_ids_B.tolist() for batch in batches.epoch(1)]
    assert sorted(chain.from_iterable(order)) == list(range(12))
    assert order == [batch.example_ids_B.tolist() for batch in batches.epoch(1)]
    others = [[batch.example_ids_B.tolist() for batch in batches.epoch(number)] for number in range(2, 6)]
    assert any(order != other for other in others)
    for batch in batches.epoch(1):
        assert isinstance(batch.inputs, Values) and isinstance(batch.targets, Values)
        assert batch.size == 1 or batch.targets.values_BTD.shape[0] * batch.targets.values_BTD.shape[1] <= 150
        assert batch.inputs.values_BTD.shape[2] == 3 and batch.targets.values_BTD.shape[2] == 4


def test_widths_in_order_depend_on_each_sequence_alone(corpus: TraceCorpus, tmp_path: Path) -> None:
    tokenizer = CharacterTokenizer.learn(corpus.lines(), lowercase=False, least=1)
    store = trace_store(corpus, scale_of(corpus), tokenizer, tmp_path / "encoded")
    for batch in TraceBatches(store, tokenizer.symbols, batch_tokens=400, seed=0).in_order():
        assert isinstance(batch.targets, Values) and isinstance(batch.inputs, Ids)
        width = batch.targets.values_BTD.shape[1]
        assert all(width - 16 < length <= width for length in batch.targets.lengths_B.tolist())
        texts = [tokenizer.decode(row[: n - 1].tolist()) for row, n in zip(*vars(batch.inputs).values(), strict=True)]
        assert texts == [list(corpus.lines())[row] for row in batch.example_ids_B.tolist()]


def test_a_store_is_read_again_and_made_again_for_another_scale(corpus: TraceCorpus, tmp_path: Path) -> None:
    first = stored(corpus, tmp_path / "encoded")
    again = stored(corpus, tmp_path / "encoded")
    assert np.array_equal(first.values_NX, again.values_NX)
    scale = Scale(True, False, False, (0.0, 0.0), (1.0, 1.0))
    assert not np.array_equal(trace_store(corpus, scale, None, tmp_path / "encoded").values_NX, first.values_NX)


def test_long_sequences_are_left_out_and_reported(corpus: TraceCorpus, tmp_path: Path) -> None:
    heard: list[Event] = []
    longest = int(np.median([len(trace.values_TD) for trace in corpus.examples()]))
    store = trace_store(corpus, scale_of(corpus), None, tmp_path / "encoded", longest=longest, report=heard.append)
    assert store.lengths.max() < longest and 0 < len(store.numbers) < 12
    assert [event.count for event in heard if isinstance(event, Skipped)] == [12 - len(store.numbers)]
    with pytest.raises(DataError, match=r"has more than 2 vectors: raise data\.max_length"):
        stored(corpus, tmp_path / "none", longest=2)
