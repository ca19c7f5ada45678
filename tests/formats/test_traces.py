"""Pen strokes are read from every format, and faults are errors with their place."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.traces import json_line, read_traces
from anaphora.errors import DataError
from anaphora.formats.traces import Trace

STROKES = [[[0, 0], [1, 2], [3, 3]], [[5, 1], [6, 0]]]
POINTS = [[0, 0], [1, 2], [3, 3], [5, 1], [6, 0]]
ENDS = [False, False, True, False, True]

INKML = """<?xml version="1.0"?>
<ink xmlns="http://www.w3.org/2003/InkML">
  <annotation type="truth">hi there</annotation>
  <traceFormat><channel name="Y" type="decimal"/><channel name="X" type="decimal"/></traceFormat>
  <trace id="t0">0 0, 2 1, 3 3</trace>
  <trace id="t1">1 5, 0 6</trace>
</ink>
"""
IAM = """<?xml version="1.0" encoding="ISO-8859-1"?>
<WhiteboardCaptureSession>
  <WhiteboardDescription><SensorLocation corner="top_left"/></WhiteboardDescription>
  <StrokeSet>
    <Stroke colour="black" start_time="1.0" end_time="1.2">
      <Point x="0" y="0" time="1.0"/><Point x="1" y="2" time="1.1"/><Point x="3" y="3" time="1.2"/>
    </Stroke>
    <Stroke colour="black" start_time="1.3" end_time="1.4">
      <Point x="5" y="1" time="1.3"/><Point x="6" y="0" time="1.4"/>
    </Stroke>
  </StrokeSet>
</WhiteboardCaptureSession>
"""


def one(path: Path, content: str) -> Trace:
    path.write_text(content)
    [trace] = read_traces(path)
    return trace


def same(trace: Trace, text: str = "") -> None:
    assert trace.values_TD.tolist() == POINTS
    assert trace.ends_T is not None and trace.ends_T.tolist() == ENDS
    assert trace.text == text


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.jsonl", json.dumps({"text": "hi", "strokes": STROKES}), "hi"),
        ("a.json", json.dumps({"text": "hi", "strokes": STROKES}), "hi"),
        ("a.json", json.dumps([STROKES]), ""),
        ("a.json", json.dumps(STROKES), ""),
        ("a.json", json.dumps([[{"x": x, "y": y} for x, y in stroke] for stroke in STROKES]), ""),
        ("a.json", json.dumps({"train": [STROKES], "test": []}), ""),
        ("a.ndjson", json.dumps({"word": "cat", "drawing": [[*zip(*one, strict=True)] for one in STROKES]}), "cat"),
        ("a.jsonl", json.dumps([[[x, y, 9] for x, y in stroke] for stroke in STROKES]), ""),
        ("a.inkml", INKML, "hi there"),
        ("a.xml", IAM, ""),
    ],
)
def test_strokes_are_read_from_every_format(tmp_path: Path, name: str, content: str, text: str) -> None:
    same(one(tmp_path / name, content), text)


def test_rows_with_a_pen_bit_are_read_with_one_bit_and_with_three(tmp_path: Path) -> None:
    rows = [[x, y, int(end)] for (x, y), end in zip(POINTS, ENDS, strict=True)]
    three = [[x, y, 1 - end, end, 0] for x, y, end in rows] + [[0, 0, 0, 0, 1]]
    for name, content in (("a.jsonl", rows), ("b.json", three), ("c.json", [rows])):
        trace = one(tmp_path / name, json.dumps(content))
        same(trace)
        assert trace.offsets is None


def test_a_line_of_iam_ondb_has_the_text_of_its_line(tmp_path: Path) -> None:
    for folder in ("lineStrokes/a01/a01-000", "ascii/a01/a01-000"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "ascii/a01/a01-000/a01-000u.txt").write_text("OCR:\n\nA wove\n\nCSR:\n\nA MOVE to\nstop Mr.\n")
    same(one(tmp_path / "lineStrokes/a01/a01-000/a01-000u-02.xml", IAM), "stop Mr.")
    with pytest.raises(DataError, match="has 2 lines, but there are strokes of line 3"):
        one(tmp_path / "lineStrokes/a01/a01-000/a01-000u-03.xml", IAM)


PLACES = st.integers(-900, 900)


@given(st.lists(st.lists(st.tuples(PLACES, PLACES), min_size=1, max_size=6), min_size=1), st.text("ab c", max_size=5))
def test_what_is_written_as_json_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, strokes: list[list[tuple[int, int]]], text: str
) -> None:
    folder = tmp_path_factory.mktemp("traces")
    content = json.dumps({"text": text, "strokes": strokes})
    first = one(folder / "a.jsonl", content)
    again = one(folder / "b.jsonl", json_line(first))
    assert np.array_equal(first.values_TD, again.values_TD) and np.array_equal(first.ends_T, again.ends_T)
    assert first.text == again.text == text


def test_arrays_are_sequences_of_vectors_with_their_texts(tmp_path: Path) -> None:
    file, values = tmp_path / "a.npz", np.arange(10.0).reshape(5, 2)
    np.savez(file, values=values, lengths=[2, 3], texts=["a", "b"])
    first, second = read_traces(file)
    assert (first.text, second.text) == ("a", "b") and first.ends_T is None
    assert np.array_equal(np.concatenate([first.values_TD, second.values_TD]), values)
    np.savez(file, values=values, lengths=[2, 3], texts=["a"])
    with pytest.raises(DataError, match="has 1 text, but 2 sequences"):
        next(read_traces(file))
