"""One odd row in 150 never changes what data is taken for: it is refused, or left out, with its file and line."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from anaphora.data.labelled import hold_vectors
from anaphora.errors import DataError
from anaphora.events import Event
from anaphora.experiment.auto import automatic
from anaphora.experiment.reading import read_experiment
from anaphora.formats.lines import write_lines
from anaphora.tasks.registry import task_of
from anaphora.tasks.training_job import TrainingJob

COUNT = 150
PLACES = pytest.mark.parametrize("at", [0, COUNT // 2], ids=["first", "middle"])


def found(path: Path, task: str, *settings: str) -> tuple[TrainingJob, list[str]]:
    """What training makes of a file without a recipe, up to the first update, and what it reports."""
    events: list[Event] = []
    text = automatic([path], settings=settings, task=task, report=events.append)
    experiment = read_experiment(text, "auto.toml", settings, data=[path])
    experiment, _ = task_of(experiment).with_runs(experiment, None)
    job = task_of(experiment).job(experiment, events.append)
    return job, [str(getattr(event, "text", event)) for event in events]


def written(path: Path, rows: Sequence[str], odd: str, at: int, head: str = "", between: str = "\n") -> int:
    """Write the rows with an odd one among them; returns the line that the odd one begins in."""
    before = head + "".join(row + between for row in rows[:at])
    path.write_text(before + "".join(row + between for row in [odd, *rows[at:]]), encoding="utf-8")
    return before.count("\n") + 1


def texts(row: Callable[[str, str], str]) -> list[str]:
    return [row(("good", "bad")[number % 2], f"film {number} was long") for number in range(COUNT)]


def as_json(labels: object, text: str) -> str:
    return json.dumps({"label": labels, "text": text})


LABELLED = {
    "heading.tsv": ("label\ttext\n", texts("{}\t{}".format), ["\tan odd one", "label\ttext"]),
    "plain.tsv": ("", texts("{}\t{}".format), ["\tan odd one"]),
    "commas.csv": ("text,label\n", texts(lambda label, text: f"{text},{label}"), ['"an odd one",', "text,label"]),
    "fasttext.txt": ("", texts("__label__{} {}".format), ["an odd one", "__label__ odd", "__label__a __label__b odd"]),
    "spaces.txt": ("", texts("{} {}".format), ["__label__good an odd one"]),
    "lines.jsonl": ("", texts(as_json), [as_json([], "odd"), as_json(["good", "bad"], "odd")]),
}
"""By the name of a file: its heading, its rows, and odd ones."""


def spans_of(number: int, **more: object) -> str:
    value = {"start": 0, "end": 3, "labels": ["PER"]}
    annotation = {"result": [{"value": value}], **more}
    return json.dumps({"data": {"text": f"Ada sees {number}"}, "annotations": [annotation]})


def strokes(number: int, text: str = "hi") -> str:
    return json.dumps({"text": text, "strokes": [[[0, 0], [number, 2], [3, 1]]]})


def points(row: str) -> list[str]:
    return [row.format(number) for number in range(COUNT)]


REFUSED = [
    *((file, "classify", head, rows, odd, "{}:{} ") for file, (head, rows, odds) in LABELLED.items() for odd in odds),
    (
        *("a.jsonl", "tag", "", [spans_of(number) for number in range(COUNT)]),
        *(spans_of(999).replace('["PER"]', '["PER", "TITLE"]'), "{}:{} has a span with the labels PER, TITLE"),
    ),
    (
        *("a.jsonl", "trace", "", points("[[{}, 1, 0], [3, 2, 1]]"), "[[0, 1, 0], [-3, 2, 1]]"),
        r"with negative numbers: 1 \(.*{}:{}\)",
    ),
    ("a.jsonl", "trace", "", points("[[{}, 1, 0], [-3, 2, 1]]"), '{"values": [[1, 2]]}', "{}:{}"),
]


@PLACES
@pytest.mark.parametrize(("file", "task", "head", "rows", "odd", "said"), REFUSED)
def test_one_odd_row_is_refused_with_its_line(
    tmp_path: Path, file: str, task: str, head: str, rows: list[str], odd: str, said: str, at: int
) -> None:
    line = written(tmp_path / file, rows, odd, at, head)
    with pytest.raises(DataError, match=said.format(file, line)):
        found(tmp_path / file, task)


def test_one_object_of_an_array_is_named_by_its_own_line(tmp_path: Path) -> None:
    rows = [json.dumps(json.loads(row), indent=1) for row in texts(as_json)]
    odd = json.dumps(json.loads(as_json([], "odd")), indent=1)
    path = tmp_path / "a.json"
    line = written(path, rows, odd, 7, "[\n", ",\n")
    path.write_text(path.read_text().removesuffix(",\n") + "\n]\n")
    with pytest.raises(DataError, match=rf"a\.json:{line} has an empty label"):
        found(path, "classify")


def test_several_labels_a_text_are_found_where_many_have_them_or_where_that_is_set(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.txt", texts("__label__{} {}".format)
    write_lines(path, [*rows, *["__label__good __label__bad x"] * 9])
    job, notes = found(path, "classify")
    assert getattr(job.splits, "several", False)
    assert any("with one label: 150, with several labels: 9" in note for note in notes)
    written(path, rows, "an odd one", 7)
    job, _ = found(path, "classify", 'classes.output="sigmoid"')
    assert job.splits.train.count + job.splits.valid.count == COUNT + 1


@pytest.mark.parametrize(
    ("file", "first", "is_heading"),
    [
        ("a.csv", "v1,v2", True),
        ("a.tsv", "Étiquette\tLe texte", True),
        ("a.csv", "mark;words", True),
        ("a.tsv", "5\ta film", False),
        ("a.tsv", "odd\ta film that is longer than headings", False),
    ],
)
def test_a_heading_of_unknown_names_is_left_out_and_reported_and_a_row_like_the_others_is_none(
    tmp_path: Path, file: str, first: str, is_heading: bool
) -> None:
    path, between = tmp_path / file, next(sign for sign in "\t,;" if sign in first)
    write_lines(path, [first, *texts(f"{{}}{between}{{}}".format)])
    job, notes = found(path, "classify")
    assert job.splits.train.count + job.splits.valid.count == COUNT + (not is_heading)
    told = f"The first line of {path} names its columns and is left out"
    assert any(told in note for note in notes) == is_heading


@PLACES
def test_one_text_among_names_of_arrays_makes_no_classifier_of_texts(tmp_path: Path, at: int) -> None:
    written(tmp_path / "a.tsv", texts(lambda label, text: f"{label}\t{text[5:6]}.npy"), "good\tan odd one", at)
    assert hold_vectors([tmp_path / "a.tsv"])


SENTENCES = {
    "columns.conll": (["Ada B-PER\nSmith I-PER\nsees O\n", "in O\nOslo B-LOC\n"], "in O\nRome I-LOC\n"),
    "tabs.tsv": (["Ada\tX\tB-PER\nsees\tX\tO\n", "in\tX\tO\nOslo\tX\tB-LOC\n"], "in\tX\tO\nRome\tX\tLOC\n"),
    "one-type.iob": (["Ada\tB\nSmith\tI\nsees\tO\n", "in\tO\nOslo\tB\n"], "in\tO\nRome\tI\n"),
    "zero.iob": (["Ada\tB-PER\nsees\tO\n", "in\tO\nOslo\tB-LOC\n"], "in\tO\nRome\t0\n"),
}


@PLACES
@pytest.mark.parametrize("file", SENTENCES)
def test_one_odd_tag_is_refused_with_its_line(tmp_path: Path, file: str, at: int) -> None:
    path, (clean, odd) = tmp_path / file, SENTENCES[file]
    rows = [one.replace("sees", f"sees{number}") for number, one in enumerate(clean * (COUNT // 2))]
    line = written(path, rows, odd, at) + 1
    with pytest.raises(DataError, match=rf"{file}:{line} has the tag"):
        found(path, "tag")
    job, notes = found(path, "tag", "spans=none", "output.kind=softmax", "training.metric=accuracy")
    assert job.splits.train.count and any("labels, not of spans" in note for note in notes)
    path.write_text("\n".join(rows) + "\n")
    assert any("spans in IOB2: " in note for note in found(path, "tag")[1])


@pytest.mark.parametrize(
    "odd",
    [
        spans_of(999, was_cancelled=True, result=[]),
        '{"text": "Bo sleeps", "annotations": []}',
        '{"text": "Bo sleeps", "spans": [], "answer": "ignore"}',
        '{"text": "Bo sleeps", "spans": [], "answer": "reject"}',
    ],
)
def test_texts_whose_annotation_is_cancelled_are_left_out_and_counted(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "a.jsonl"
    line = written(path, [spans_of(number) for number in range(COUNT)], odd, 7)
    job, notes = found(path, "tag")
    assert job.splits.train.count + job.splits.valid.count == COUNT
    told = f"1 text of {path} without a finished annotation is left out (the first is line {line})"
    assert any(told in note for note in notes)


@PLACES
def test_sequences_without_a_text_among_others_are_refused_with_their_lines(tmp_path: Path, at: int) -> None:
    path = tmp_path / "a.jsonl"
    line = written(path, [strokes(number) for number in range(COUNT)], strokes(999, ""), at)
    with pytest.raises(DataError, match=rf"a\.jsonl:{line} has no text"):
        found(path, "trace")
    path.write_text(path.read_text() + strokes(1000, " ") + "\n")
    with pytest.raises(DataError, match=rf"a\.jsonl:{line}, .*a\.jsonl:{COUNT + 2} have no text"):
        found(path, "trace")


@PLACES
def test_a_text_among_sequences_without_is_reported(tmp_path: Path, at: int) -> None:
    path = tmp_path / "a.jsonl"
    line = written(path, [strokes(number, "") for number in range(COUNT)], strokes(999), at)
    _, notes = found(path, "trace")
    assert any(f", with a text: 1 ({path}:{line})), a network that predicts" in note for note in notes)
