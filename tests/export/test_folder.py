"""The folder of an exported run works without the package, and says what rounding costs."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anaphora.cli.app import main
from anaphora.tasks.runs import load, load_trained
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.words import WordTokenizer

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from anaphora.export.driver import Writer
from anaphora.export.folder import write_folder
from anaphora.export.reading import Tokens, strokes
from tests.conftest import Trained
from tests.export.driver import ALONE, answered_alone

RUN = Path(__file__).parents[1] / "runs" / "format-2"
LINES = "The old man sees a cat.\n\nAlice is in the garden.\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported run, which no test may change."""
    folder = tmp_path_factory.mktemp("exported") / "run"
    write_folder(load_trained(RUN), folder)
    return folder


def test_the_driver_translates_as_the_run_does_without_torch_or_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "exported"
    assert main(["export", str(RUN), "--to", "onnx", "--output", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(out), f"Next: python {out / 'driver.py'} < FILE"]
    windows = f"\ufeff{LINES}".replace("\n", "\r\n")
    expected = load(RUN).translate(LINES.splitlines(), beam=2)
    said = answered_alone(out / "driver.py", "--beam", 2, "--scores", given=windows)
    rows = [line.split("\t") for line in said.splitlines()]
    assert [text for _, text in rows] == [one.text for one in expected]
    assert [float(score) for score, _ in rows] == pytest.approx([one.score for one in expected], abs=1e-4)


@pytest.mark.parametrize("options", [["--folder", "nowhere"], ["nowhere.npz", "--folder", "{out}"]])
def test_what_a_person_can_put_right_is_one_line_of_the_driver(out: Path, tmp_path: Path, options: list[str]) -> None:
    out = shutil.copytree(out, tmp_path / "exported")
    (out / "config.json").write_text((out / "config.json").read_text().replace('"reads": "text"', '"reads": "vectors"'))
    asked = [option.format(out=out) for option in options]
    said = subprocess.run([*ALONE, str(out / "driver.py"), *asked], capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith("driver.py: [Errno 2]") and said.stderr.count("\n") == 1


def test_the_driver_ends_where_nobody_reads_on(out: Path) -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*ALONE, str(out / "driver.py")], **pipes) as driver:
        assert driver.stdin and driver.stdout and driver.stderr
        driver.stdout.close()
        driver.stdin.write(LINES.encode())
        driver.stdin.close()
        assert driver.stderr.read() == b""
    assert driver.returncode == 0


@pytest.mark.parametrize("line", ["", "[", "7", "{}", "[[1, 2]]", '[["a", "b"]]', "[[[1], [2, 3]]]"])
def test_strokes_of_another_shape_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="should be strokes as JSON"):
        strokes(line, upward=False)


def test_int8_is_smaller_and_its_loss_is_reported(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(trained("translator", "decoder.size=64", "encoder.size=64", "training.epochs=1"))
    assert main(["export", run, "--to", "onnx", "--int8", "--output", str(tmp_path / "int8")]) == 0
    said = capsys.readouterr().out
    assert "3 lines of the validation split" in said and "loss a token" in said
    before, after = (float(said.split(word)[0].split()[-1]) for word in (" before", " after"))
    assert after == pytest.approx(before, rel=0.05) and after != before
    assert main(["export", run, "--to", "onnx", "--output", str(tmp_path / "whole")]) == 0
    small, whole = (sum(p.stat().st_size for p in (tmp_path / n).glob("*.onnx")) for n in ("int8", "whole"))
    assert small < 0.5 * whole
    assert f"int8: {small / 1e3:.0f} kB in place of {whole / 1e3:.0f} kB; loss" in said
    model = Writer(tmp_path / "int8")
    found, score = model.write(model.tokens["source"].encode("adf"), beam=2)
    assert isinstance(model.tokens["target"].decode(found), str) and score < 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "ctranslate2"], "no recurrent layers"),
        (["--to", "onx"], "Did you mean 'onnx'?"),
        (["--to", "html", "--int8"], "--int8 belongs to --to onnx"),
        (["--to", "onnx"], "is there already"),
    ],
)
def test_what_cannot_be_exported_is_one_clear_error(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(RUN), *options, "--output", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("to", ["onnx", "html"])
def test_an_ngram_model_is_refused_with_the_format_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    run = RUN.with_name("kinds-2") / "counts"
    assert main(["export", str(run), "--to", to, "--output", str(tmp_path / "exported")]) == 2
    assert "use --to arpa" in capsys.readouterr().err


def test_a_missing_library_is_named_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", str(RUN), "--to", "onnx", "--output", str(tmp_path / "exported")]) == 2
    assert "pip install 'anaphora[onnx]'" in capsys.readouterr().err
    assert not (tmp_path / "exported").exists()


TEXTS = ["The old man sees a cat.", "Alice is in the garden!", "a Ünicode çat", "old cats see old men"]
BPE = SubwordTokenizer.learn(TEXTS * 20, size=320, lowercase=True, byte_fallback=True)
OWN = Tokens({"kind": "bpe", "pieces": BPE.pieces(range(BPE.symbols.size)), "lowercase": True})
letters = st.text(st.sampled_from("the old man İç\u2581çü,  \U0001f600Aß") | st.characters(codec="utf-8"), max_size=30)


@settings(max_examples=50)
@given(letters.filter(lambda text: "\n" not in text and "\0" not in text))
def test_the_driver_has_the_subwords_of_the_package(text: str) -> None:
    assert OWN.encode(text) == BPE.encode(text)
    assert OWN.decode(OWN.encode(text)) == BPE.decode(BPE.encode(text))


@given(st.lists(st.integers(0, BPE.symbols.size - 1), max_size=12))
@example([198, 0, 132])
def test_the_driver_writes_any_ids_as_the_package_does(ids: list[int]) -> None:
    assert OWN.decode(ids) == BPE.decode(ids)


@given(st.text("ab cÄ", max_size=12))
def test_the_driver_has_the_words_of_the_package(text: str) -> None:
    words = WordTokenizer.learn(["a ab c"], size=9, least=1, lowercase=False, segmentation="whitespace", language="en")
    own = Tokens({"kind": "word", "pieces": ["", "", "", "", *words.vocabulary], "lowercase": False})
    assert own.encode(text) == words.encode(text)
    assert own.decode(own.encode(text)) == words.decode(words.encode(text))
