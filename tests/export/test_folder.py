"""The folder of an exported run: its example runs, it is written whole or not at all, and says what rounding costs."""

import errno
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from anaphora import files
from anaphora.tasks.runs import load, load_trained
from tests.cli.conftest import Shown
from tests.conftest import Trained
from tests.networks import untrained
from tests.tasks.conftest import shown

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from anaphora.export.folder import write_folder

TESTS = Path(__file__).parents[1]
RUN = TESTS / "runs" / "format-2"
LINES = ["The old man sees a cat.", "Alice is in the garden.", "b"]


def export(output: Path, *options: str, run: Path = RUN, to: str = "onnx", code: int = 0) -> Shown:
    return shown("export", run, "--to", to, "--output", output, *options, code=code)


def test_the_example_of_the_documents_translates_as_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RUN, tmp_path / "runs" / "en-de")
    assert export(Path("en-de-onnx")).out == "en-de-onnx\n"
    page = (TESTS.parent / "docs" / "reference" / "export.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?InferenceSession.*?)```", page, re.DOTALL)
    names = dict[str, Any]()
    exec(compile(example, "export.md", "exec"), names)
    expected = load(RUN).translate(LINES, beam=1)
    assert [names["translate"](line) for line in LINES] == [one.text for one in expected]


def test_int8_measures_the_loss_of_validation_with_features_and_with_several_directions(
    tiny_translator: Path, tmp_path: Path
) -> None:
    (tmp_path / "forms.tsv").write_text("".join(f"w{n}\tw{n}s\tV;PRS;{n % 3}\n" for n in range(40)))
    for sides in ("en-fr", "fr-en"):
        (tmp_path / f"{sides}.tsv").write_text("".join(f"a {n}\tb {n}\n" for n in range(10, 50)))
    both = [f"--data={sides}={tmp_path}/{sides}.tsv" for sides in ("en-fr", "fr-en")]
    transducer = ["--task", "transduce", "--data", tmp_path / "forms.tsv", "--set", "text.features=decoder"]
    for name, options in (("transducer", transducer), ("translator", [tiny_translator, *both])):
        exact = ["--set", "training.precision=fp32"]  # that of exports; losses of pairs as long in both directions
        shown("train", *options, "--set", "training.epochs=1", *exact, "--run", tmp_path / name)
        said = export(tmp_path / f"{name} in int8", "--int8", "--json", run=tmp_path / name).out
        measured = json.loads(said.splitlines()[-1])["rounding"]["loss_before"]
        assert measured == pytest.approx(json.loads(shown("info", tmp_path / name, "--json").out)["validation"]["loss"])


@pytest.mark.parametrize("options", [(), ("--int8",)])
def test_a_run_gives_the_same_bytes_each_time(tmp_path: Path, options: tuple[str, ...]) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    folders = [tmp_path / name for name in ("once", "again")]
    for folder in folders:
        export(folder, *options, run=tmp_path / "run")
    once, again = ({file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders)
    assert once == again and once.keys() == {"config.json", "encoder.onnx", "step.onnx"}


def test_the_configuration_names_signals_and_scales(tmp_path: Path) -> None:
    values = {"kind": "strokes", "size": 2, "mean": [0.5, -0.25], "deviation": [2.0, 3.0]}
    drawings = untrained({"task": "trace", "values": values, "data": {"points": "absolute", "y_axis": "up"}}, {})
    for name, model in (("text", load_trained(RUN)), ("drawings", drawings)):
        write_folder(model, tmp_path / name)
    text, strokes = (json.loads((tmp_path / name / "config.json").read_text()) for name in ("text", "drawings"))
    assert text["graphs"]["encoder"]["inputs"] == {"ids": ["S"]}
    assert {f"next {name}" for name in text["state"]} < text["graphs"]["step"]["outputs"].keys()
    assert text["symbols"]["target"].keys() == {"size", "pad", "unk", "bos", "eos"}
    assert strokes["scale"] == {"mean": [0.5, -0.25], "deviation": [2.0, 3.0], "pen": True, "upward": True}
    assert strokes["initial"].keys() == {*strokes["state"]}


def test_int8_reports_its_size_and_loss(trained: Trained, tmp_path: Path) -> None:
    run = trained("translator", "decoder.size=64", "encoder.size=64", "training.epochs=1")
    said = export(tmp_path / "int8", "--int8", run=run).out
    assert "3 lines of the validation split" in said and "loss a token" in said
    before, after = (float(said.split(word)[0].split()[-1]) for word in (" before", " after"))
    assert after == pytest.approx(before, rel=0.05) and after != before
    export(tmp_path / "whole", run=run)
    small, whole = (sum(p.stat().st_size for p in (tmp_path / n).glob("*.onnx")) for n in ("int8", "whole"))
    assert small < 0.5 * whole
    assert f"int8: {small / 1e3:.0f} kB in place of {whole / 1e3:.0f} kB; loss" in said
    found = json.loads(export(tmp_path / "again", "--int8", "--json", run=run).out.splitlines()[-1])
    assert found["format"] == "onnx" and found["output"] == str(tmp_path / "again")
    assert (found["rounding"]["bytes_after"], found["rounding"]["bytes_before"]) == (small, whole)


@pytest.mark.parametrize("to", ["onnx", "bundle"])
def test_a_full_disk_is_blamed_and_nothing_is_left(to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_write_all", fail)
    output = tmp_path / "exported.anaphora"
    said = f"{output} cannot be used: No space left on device; make room, or give another place."
    assert said in export(output, to=to, code=2).err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("to", "options", "said"),
    [
        ("ctranslate2", [], "no recurrent layers"),
        ("onx", [], "Did you mean 'onnx'?"),
        ("html", ["--int8"], "--int8 belongs to --to onnx"),
        ("onnx", [], "is there already"),
    ],
)
def test_what_cannot_be_exported_is_one_clear_error(to: str, options: list[str], said: str, tmp_path: Path) -> None:
    assert said in export(tmp_path, *options, to=to, code=2).err


@pytest.mark.parametrize("to", ["onnx", "html"])
def test_an_ngram_model_is_refused_with_its_format(tmp_path: Path, to: str) -> None:
    said = export(tmp_path / "exported", run=RUN.with_name("kinds-2") / "counts", to=to, code=2).err
    assert "use --to arpa" in said


def test_a_missing_library_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert "pip install 'anaphora[onnx]'" in export(tmp_path / "exported", code=2).err
    assert list(tmp_path.iterdir()) == []
