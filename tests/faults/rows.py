"""One odd row among 150 of every format: it is refused with its line, or the model is of the same kind as without."""

import json
import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from safetensors.numpy import load_file

from tests.faults.processes import Fault, Outcome, command
from tests.faults.tasks import EMBEDDING, ENCODER, NAMES, features

ROWS = 150
_TRAINING = "[training]\nbatch_tokens = 2000\nepochs = 1\n"
_DECODER = "[decoder]\ncell = 'gru'\nsize = 6\n"
_EXPERIMENTS = {
    "translate": f"[text]\ntokenizer = 'character'\n{EMBEDDING}{ENCODER}{_DECODER}{_TRAINING}",
    "language-model": f"[text]\ntokenizer = 'word'\n{EMBEDDING}[recurrence]\nsize = 6\n{_TRAINING}",
    "classify": f"[text]\ntokenizer = 'word'\n{EMBEDDING}{ENCODER}{_TRAINING}",
    "tag": f"{EMBEDDING}{ENCODER}{_TRAINING}",
    "transduce": f"{EMBEDDING}{ENCODER}{_DECODER}{_TRAINING}",
    "align": "[text]\ntokenizer = 'word'\n",
    "describe": f"{EMBEDDING}[encoder]\nsize = 6\n{_DECODER}{_TRAINING}",
    "trace": f"[recurrence]\nsize = 6\n[output]\ncomponents = 2\n{_TRAINING}",
}


@dataclass(frozen=True)
class Format:
    task: str
    file: str
    row: Callable[[int], str]
    odd: tuple[str, ...]
    """Rows that no model can be learnt from, or one of the same kind alone."""
    end: str = "\n"
    headings: tuple[str, ...] = ()
    first: str = ""
    """The heading that every such file has."""
    options: tuple[str, ...] = ()
    settings: str = ""
    images: bool = False


def _word(number: int) -> str:
    return NAMES[number % len(NAMES)]


def _label(number: int) -> str:
    return "good" if "d" in _word(number) else "bad"


def _entity(number: int, separator: str = " ") -> str:
    words = (("Anna", "B-PER"), ("Lee", "I-PER"), (_word(number), "O"), ("Bonn", "B-LOC"))
    return "".join(f"{word}{separator}{tag}\n" for word, tag in words) + "\n"


def _tree(number: int) -> str:
    words = (_word(number), _word(number * 7))
    return "".join(f"{n}\t{w}\t_\t{_label(len(w))}\t_\t_\t0\troot\t_\t_\n" for n, w in enumerate(words, 1)) + "\n"


def _spans(number: int) -> str:
    return json.dumps({"text": f"Anna {_word(number)} Bonn", "label": [[0, 4, "PER"], [9, 13, "LOC"]]}) + "\n"


def _ink(number: int, **more: object) -> str:
    strokes = [[[n, ord(letter) % 7], [n + 1, ord(letter) % 5]] for n, letter in enumerate(_word(number))]
    return json.dumps({"strokes": strokes} | more) + "\n"


_SIGNS = ("", "\t", "a", "a\tb\tc\td", "\ta", "a\t", '"', "\u00a0", "12")
_PAIRS = ("--source", "en", "--target", "fr")
FORMATS = (
    Format(
        "classify", "train.tsv", lambda n: f"{_label(n)}\tthe {_word(n)} is\n", ("\tthe text", "  \tthe text", *_SIGNS),
        headings=("v1\tv2", "klass\tbody", "target\tcontent", "label\ttext"),
    ),
    Format(
        "classify", "train.csv", lambda n: f"{_label(n)},the {_word(n)} is\n",
        (",the text", "good,a,b", "good", '"",the', '"good","a ""b"" c"', "", "good;the text"), headings=("v1,v2",),
    ),
    Format(
        "classify", "train.csv", lambda n: f"{_label(n)},the {_word(n)} is\n", (",the text", "good,a,b"),
        first="label,text\n",
    ),
    Format(
        "classify", "train.txt", lambda n: f"__label__{_label(n)} the {_word(n)} is\n",
        ("the text", "__label__ the text", "__label__good __label__bad the text", "good the text", "__label__good"),
    ),
    Format(
        "classify", "train.jsonl", lambda n: json.dumps({"label": _label(n), "text": f"the {_word(n)}"}) + "\n",
        (
            '{"label": "", "text": "a"}', '{"label": null, "text": "a"}', '{"label": [], "text": "a"}', '{"text": "a"}',
            '{"label": ["good", "bad"], "text": "a"}', '{"label": "good|bad", "text": "a"}', '{"label": "good"}', "[]",
            '{"label": 1, "text": "a"}', '{"label": "good", "text": 5}',
        ),
    ),
    Format(
        "tag", "train.conll", _entity,
        (
            "foo", "foo O O", "foo X", "foo B", "foo 0", "foo I-PER", "foo E-PER", "foo b-PER", "foo -", "foo B-",
            "foo\tB-PER", "foo bar B-PER", "foo NOUN",
        ),
        "\n\n", headings=("word tag", "token label"),
    ),
    Format(
        "tag", "train.conll", _entity, ("foo X", "foo B", "foo NOUN", "foo O-", "foo o"), "\n\n",
        settings="[output]\nkind = 'crf'\n",
    ),
    Format(
        "tag", "train.conllu", _tree, ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_", "a b", "1\ta", "x\ta" + "\t_" * 8), "\n\n",
    ),
    Format(
        "tag", "train.jsonl", _spans,
        (
            '{"text": "Anna", "label": [[0, 4, "PER"], [0, 4, "LOC"]]}', '{"text": "Anna", "label": [[0, 9, "PER"]]}',
            '{"text": "Anna", "label": "PER"}', '{"text": "Anna", "label": [[0, 4, ""]]}', '{"label": []}', "5",
            '{"text": "Anna", "label": [[0, 4, ["PER", "LOC"]]]}', '{"text": "Anna", "label": [[2, 2, "PER"]]}',
            '{"data": {"text": "Anna"}, "annotations": [{"was_cancelled": true, "result": []}]}',
        ),
    ),
    Format(
        "translate", "train.tsv", lambda n: f"{_word(n)}\t{_word(n)[::-1]}\n", _SIGNS,
        headings=("en\tfr", "en-US\tfr-FR", "source\ttarget", "English\tFrench", "en_GB\tfr_CA"), options=_PAIRS,
    ),
    Format("align", "train.tsv", lambda n: f"the {_word(n)}\tle {_word(n)}\n", _SIGNS, options=_PAIRS),
    Format(
        "describe", "train.tsv", lambda n: f"{n:03}\ta {_word(n)}\n",
        ("abc", "\ta b", "none\ta b", "000\t", "", "000\tb\tc", "000\t \u00a0"),
        headings=("image\tcaption", "file\ttext"), images=True,
    ),
    Format(
        "translate", "train.csv", lambda n: f"{_word(n)},{_word(n)[::-1]}\n", ("a", "a,b,c", ",a", "a,", '"a'),
        headings=("en-US,fr-FR", "Source,Target"), first="en,fr\n", options=_PAIRS,
    ),
    Format(
        "transduce", "train.tsv", lambda n: f"{_word(n)}\t{' '.join(_word(n).upper())}\n", _SIGNS,
        headings=("word\tphonemes",),
    ),
    Format(
        "transduce", "train.dict", lambda n: f"{_word(n).upper()}{n}  {' '.join(_word(n).upper())}\n",
        ("A", " A B", "A\tB", "A  ", "a b c", ";;;", "A(2)  B"),
    ),
    Format(
        "language-model", "train.txt", lambda n: f"the {_word(n)} sees\n", ("", "\t", "a\x0bb", "x" * 9000, "\u2028")
    ),
    Format(
        "trace", "train.jsonl", lambda n: _ink(n, text=_word(n)),
        (
            '{"strokes": []}', '{"strokes": [[[1, 2], [3, 4]]]}', '{"text": "a"}', "[[1, 2, 0]]",
            '{"text": "", "strokes": [[[1, 2], [2, 3]]]}', '{"text": 5, "strokes": [[[1, 2], [2, 3]]]}',
            '{"text": "a", "strokes": [[[1, 2, 3], [2, 3]]]}',
        ),
    ),
    Format("trace", "train.jsonl", _ink, ('{"text": "a", "strokes": [[[1, 2], [3, 4]]]}', "[[1, 2, 0], [0, 1, 1]]")),
)  # fmt: skip


def trial(random: Random) -> str:
    format_ = random.choice(FORMATS)
    is_heading = random.random() < 0.5 and format_.headings != ()
    odd = random.choice(format_.headings if is_heading else format_.odd) + format_.end
    place = 0 if is_heading else random.randrange(ROWS)
    rows = [format_.row(number) for number in range(ROWS)]
    line = 1 + (bool(format_.first) and not is_heading) + "".join(rows[:place]).count("\n")
    text = "".join(["" if is_heading else format_.first, *rows[:place], odd, *rows[place:]])
    expected = _clean_kind(format_)
    ended, kind = _trained(format_, text)
    where = f"{format_.task}, {format_.file} with {odd!r} in line {line}"
    if ended.code == 2:
        lines = range(line, line + odd.count("\n") + 1)
        # validation without the heading of training has columns of unknown order
        lacks_heading = is_heading and f"val{Path(format_.file).suffix}:1 should have columns" in ended.err
        places = rf"\b{re.escape(format_.file)}:{{0}}\b|\bline {{0}}\b"
        if not lacks_heading and not any(re.search(places.format(one), ended.err) for one in lines):
            raise Fault(f"{where} is refused without its line: {ended.err[-500:]}")
    elif ended.code:
        raise Fault(f"{where} ends with {ended.code}: {ended.err[-500:]}")
    else:
        if not is_heading:  # of 151 rows instead of 150, one may be a class that is rare
            kind, expected = ({**one, "classes": []} for one in (kind, expected))
        if wrong := sorted(name for name in {*kind, *expected} if kind.get(name) != expected.get(name)):
            raise Fault(f"{where}: {wrong[0]} is {kind.get(wrong[0])!r}, not {expected.get(wrong[0])!r}"[:2000])
    return format_.task


@cache
def _clean_kind(format_: Format) -> dict[str, object]:
    ended, kind = _trained(format_, format_.first + "".join(map(format_.row, range(ROWS))))
    if ended.code:
        raise Fault(f"{format_.task} cannot be trained on a clean {format_.file}: {ended.err[-1000:]}")
    return kind


def _trained(format_: Format, text: str) -> tuple[Outcome, dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        place, name = Path(folder), Path(format_.file)
        (place / "data").mkdir()
        (place / "data" / name).write_text(text, newline="")
        (place / "data" / f"val{name.suffix}").write_text(
            format_.first + "".join(map(format_.row, range(ROWS, ROWS + 20)))
        )
        if format_.images:
            (place / "data" / "images.npz").write_bytes(features([f"{number:03}" for number in range(ROWS + 20)]))
        experiment = f"task = '{format_.task}'\n{_EXPERIMENTS[format_.task]}{format_.settings}"
        (place / "experiment.toml").write_text(experiment)
        ended = command(["train", "experiment.toml", "--data", "data", *format_.options, "--run", "run"], at=place)
        return ended, {} if ended.code else _kind(place / "run")


def _kind(run: Path) -> dict[str, object]:
    experiment = tomllib.loads((run / "experiment.toml").read_text())
    classes = experiment.get("classes", {}).pop("names", [])
    experiment["data"].pop("files")
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    metrics = {name for line in lines for name in line.get("validation", ())}
    weights = load_file(run / "checkpoints" / (run / "best").read_text().strip() / "model.safetensors")
    return {"metrics": metrics, "weights": sorted(weights), "classes": classes} | dict(_leaves(experiment))


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, object]]:
    """The options by their dotted keys, but for what is measured of the data."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        elif not isinstance(value, float | list):
            yield f"{above}{name}", value
