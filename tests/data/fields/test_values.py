"""Encoded sequences are what the files have, scaled."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.data.example_batches import Side
from anaphora.data.example_store import example_store
from anaphora.data.fields.values import NextValues, PreviousValues, Scale, Values
from anaphora.data.fields.vectors import moments
from anaphora.data.finding import Names
from anaphora.data.traces import trace_splits
from anaphora.errors import DataError
from anaphora.formats.traces import Trace
from anaphora.samples import handwriting


@pytest.mark.parametrize(("offset", "first"), [(0.0, False), (1e9, False), (1e9, True)])
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


def item(side: Side, row: int) -> np.ndarray[Any, Any]:
    return side.field.items(side.rows, np.array([row])).values_BTD[0]  # type: ignore[no-any-return, union-attr]


def test_decoded_vectors_are_the_points_of_the_files(tmp_path: Path) -> None:
    folder = handwriting.write(tmp_path / "lines", train=12, valid=2, test=2)
    corpus = trace_splits([folder], Names("train", "val", "test")).train
    mean, deviation = moments(corpus.examples(), Scale(pen=True, offsets=False, upward=False).raw)
    scale = Scale(True, False, False, tuple(mean), tuple(deviation))
    fields = PreviousValues("values", scale), NextValues("values", scale)
    store = example_store(corpus, fields, tmp_path / "encoded", noun="sequence")
    read, written = (Side(field, store.rows(field)) for field in fields)
    every = np.concatenate([scale.encode(trace)[:, :2] for trace in corpus.examples()])
    assert np.allclose(every.mean(0), 0) and np.allclose(every.std(0), 1)
    for row, trace in enumerate(corpus.examples()):
        read_TX, targets_TY = item(read, row), item(written, row)
        points_TD = trace.values_TD[0] + np.cumsum(scale.decode(targets_TY[:, :2].astype(np.float64)), 0)
        assert np.allclose(points_TD, trace.values_TD[1:], atol=0.01)
        assert trace.ends_T is not None
        assert np.array_equal(targets_TY[:, 2], trace.ends_T[1:])
        assert np.flatnonzero(targets_TY[:, 3]).tolist() == [len(points_TD) - 1]
        assert np.array_equal(read_TX[1:], targets_TY[:-1, :3])
        assert written.lengths[row] == len(points_TD)


def test_a_single_point_is_read_but_not_predicted() -> None:
    scale, dot = Scale(True, False, False, (0.0, 0.0), (1.0, 1.0)), Trace("here", np.zeros((1, 2)), np.array([True]))
    assert Values("values", scale).encode([dot], str).lengths.tolist() == [1]
    with pytest.raises(DataError, match="here has one point"):
        NextValues("values", scale).encode([dot], str)
