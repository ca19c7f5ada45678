"""Prediction without torch: neither torch, pydantic nor what trains is imported by the predicting half."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import anaphora
from anaphora.errors import MissingExtraError
from anaphora.run import Run
from anaphora.tasks.runs import export_bundle
from tests.faults.tasks import AIDED, SAMPLES
from tests.tasks.conftest import shown

PARSERS = ("pydantic", "pydantic_core", "typer", "rich")
"""Modules that nothing needs that predicts from Python; the parser of the command line imports them."""
REFUSED = (
    *("torch", "safetensors.torch", "anaphora.config", "anaphora.models", "anaphora.nn", "anaphora.training"),
    *("anaphora.experiment", "anaphora.tasks.base", "anaphora.tasks.data_table", "anaphora.tasks.task"),
)


def test_help_shows_what_predicts_and_what_trains_says_what_to_install() -> None:
    program = "import sys\nsys.modules['torch'] = None\nimport anaphora\nhelp(anaphora)\nanaphora.train"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "class TranslationPredictor" in ran.stdout and "This needs" not in ran.stdout
    assert ran.returncode == 1 and "This needs torch" in ran.stderr and "pip install 'anaphora[train]'" in ran.stderr


BAR = """
import io, json, os, sys
from contextlib import redirect_stderr, redirect_stdout

barred, commands = json.loads(sys.argv[1])


class Bar:
    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(f"{one}.") for one in barred) or (barred and name.endswith(".task")):
            raise ModuleNotFoundError(f"{name} is barred", name="torch")


sys.meta_path.insert(0, Bar())
from anaphora.cli.app import main
"""
VERBS = f"""{BAR}
found = []
for folder, arguments in commands:
    os.chdir(folder)
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline=""), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(arguments)
    out.seek(0)
    found.append([code, out.read(), err.getvalue()])
print(json.dumps(found))
"""
RUNS = sorted(path.parent for path in (Path(__file__).parent / "runs").glob("**/experiment.toml"))

WRITTEN = {
    "terms.tsv": "adf\tfda\n",
    "prefixes.txt": "f\nf\n",
    "new.txt": "adf 12 http://a.b/c\nbeg\n",
    "page.html": "<p>adf <b>beg</b> cdh</p>",
    "pairs.tsv": "adf\tfda\nbeg\tgeb\n",
    "list.nbest": "0 ||| the adf ||| a= 1 ||| 1\n0 ||| it ||| a= 1 ||| 1\n",
}
OF_TRANSLATORS = (
    *(f"translate run new.txt {options}" for options in ("--precision int8", "--precision bf16 --beam 3 --nbest 2")),
    "translate run new.txt --terms terms.tsv --beam 2 --protect placeholders,urls,numbers",
    *("translate run new.txt --prefixes prefixes.txt", "translate run new.txt --memory --json --fuzzy 50"),
    *("translate run new.txt --shortlist", "translate run new.txt --sample --seed 3 --minimum-risk 3"),
    *("translate run run new.txt --beam 4 --groups 2", "translate run page.html --output out.html"),
    *("translate run new.txt --output out.txt --alignments links", "memory run list --text adf"),
    *("score run pairs.tsv", "align run pairs.tsv", "align run pairs.tsv --soft"),
    "calibrate run --beam 2 --source held.en --reference held.fr",
)
OF_TEXT = ("score {} new.txt", "generate {} --prompt the --seed 3", "generate {} --beam 2", "rescore {} list.nbest")
NEEDING_TORCH = (
    *("train --resume --run run", "evaluate run", "compare run run", "average run", "distill run --run small"),
    *("shortlist run", "inspect run saliency --text adf", "export run --to onnx --output graphs", "recipes"),
    *("settings", "check experiment.toml --data data", "score run new.txt --dynamic 0.1"),
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of every sample of a task, where it was trained, by its name."""
    found = {}
    for sample in (*SAMPLES[1:], AIDED):
        folder = found[sample.name] = tmp_path_factory.mktemp("samples") / "place"
        sample.write(folder)
        few = ["--set", "training.epochs=1"] if "epochs" in sample.experiment else []
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            for command in ([*sample.training(), *few], *map(sample.filled, sample.made)):
                shown(*command)
            shown("export", "run", "--to", "bundle", "--output", "model.anaphora")
            if sample.name == "ngram":
                shown("export", "run", "--to", "arpa", "--output", "model.arpa")
        for name, content in WRITTEN.items():
            if name != sample.text[0] or sample is AIDED:
                (folder / name).write_text(content)
    return found


def run_verbs(commands: Iterable[tuple[Path, Sequence[str | Path]]], barred: Sequence[str] = REFUSED) -> list[Any]:
    """Exit code, output and messages of commands, each in a folder, in one process where modules are ``barred``."""
    asked = json.dumps([barred, [(str(folder), list(map(str, words))) for folder, words in commands]])
    ran = subprocess.run([sys.executable, "-c", VERBS, asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[Any] = json.loads(ran.stdout)
    return found


def test_every_verb_that_predicts_answers_the_same_without_torch(folders: dict[str, Path]) -> None:
    commands: list[tuple[Path, Sequence[str | Path]]] = [
        (folders[sample.name], sample.using()) for sample in (*SAMPLES[1:], AIDED)
    ]
    commands += [(folder, ["info", "run"]) for folder in folders.values()]
    commands += [(folders[AIDED.name], list(command.split())) for command in OF_TRANSLATORS]
    check_answers(commands)


def test_bundles_and_runs_of_every_format_answer_the_same_without_torch(folders: dict[str, Path]) -> None:
    commands: list[tuple[Path, Sequence[str | Path]]] = [
        (folders[sample.name], sample.using("model.anaphora")) for sample in SAMPLES[1:]
    ]
    mixture = next(str(run) for run in RUNS if run.name == "mixture")
    models = [("language-model", "run"), ("ngram", "run"), ("ngram", "model.arpa"), ("ngram", mixture)]
    commands += [(folders[name], command.format(model).split()) for name, model in models for command in OF_TEXT]
    for run in RUNS:
        verb = {"translate": "translate", "align": "align"}.get(Run.open(run).experiment["task"], "score")
        commands.append((folders[AIDED.name], [verb, run, "pairs.tsv" if verb == "align" else "new.txt"]))
    check_answers(commands)


def check_answers(commands: Sequence[tuple[Path, Sequence[str | Path]]]) -> None:
    """Check that commands answer alike in a process with torch and in one without."""
    answers = zip(commands, run_verbs(commands, ()), run_verbs(commands), strict=True)
    for (_, command), expected, found in answers:
        if command[0] == "info":  # which compares options with their defaults where torch is there
            assert "where torch is installed" in found[1]
            found[1], expected[1] = (text.partition("Data ")[2] for text in (found[1], expected[1]))
        if command[0] == "calibrate":  # which reads the words of the training text where torch is there
            assert "without the words of the training text" in found[2]
            found[2] = "".join(line for line in found[2].splitlines(keepends=True) if "training text" not in line)
        assert (found, found[0]) == (expected, 0), command


IN_PYTHON = {
    "translate with aids": "translate(['adf'])",
    "language-model": "score_lines(['the adf'])",
    "ngram": "score_lines(['the adf'])",
    "align": "align(['adf'], ['fda'])",
    "classify": "predict(['the adf'])",
    "tag": "predict(['adf beg'])",
    "transduce": "predict(['adf'])",
    "trace": "generate(length=3)",
    "describe": "predict_file({file!r})",
}
"""A prediction of the sample of every task."""


def test_what_is_loaded_and_predicted_in_python_imports_no_parser_and_no_options(folders: dict[str, Path]) -> None:
    program = [f"import sys\nsys.modules |= dict.fromkeys({[*REFUSED, *PARSERS]})\nimport anaphora"]
    for sample in (*SAMPLES[1:], AIDED):
        call = IN_PYTHON[sample.name].format(file=str(folders[sample.name] / sample.text[0]))
        paths = (str(folders[sample.name] / name) for name in ("run", "model.anaphora"))
        program += (f"print(anaphora.load({path!r}).{call})" for path in paths)
    ran = subprocess.run([sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


LIMITED = """
import sys
sys.modules["torch"] = None
from anaphora.kernels.compiled import library
if sys.argv[1] == "none":
    library._library = lambda: "is not here"
else:
    library.run("limit_instructions", int(sys.argv[1]))
import anaphora
for path in sys.argv[2:]:
    try:
        print([(one.text, one.score) for one in anaphora.load(path).translate(["adf", "beg"], beam=2)])
    except anaphora.AnaphoraError as error:
        print(error)
"""


def test_a_processor_with_fewer_instructions_gives_the_same_answers_or_one_sentence(folders: dict[str, Path]) -> None:
    folder = folders[AIDED.name]
    paths = [str(folder / name) for name in ("int8.anaphora", "model.anaphora", "run")]
    export_bundle(folder / "run", folder / "int8.anaphora", "int8")
    answers = {}
    for level in ("5", "1", "0", "none"):  # of kernels/compiled/processor.h, 1 is AVX2
        command = [sys.executable, "-c", LIMITED, level, *paths]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        answers[level] = ran.stdout.splitlines()
    in_int8, in_fp32, of_run = answers["5"]
    assert in_fp32 == of_run and answers["1"] == [in_int8, in_fp32, of_run]
    for level, refused in (("0", paths[1:2]), ("none", paths[:2])):
        *given, last = answers[level]
        assert given[: -len(refused)] == [in_int8][: 2 - len(refused)] and "pip install 'anaphora[train]'" in last
        assert all("which the library in C computes, but that" in one for one in given[-len(refused) :])


def test_every_verb_that_needs_torch_or_a_newer_version_says_so(folders: dict[str, Path], tmp_path: Path) -> None:
    commands = [(folders["language-model"], command.split()) for command in NEEDING_TORCH]
    for (_, command), (code, _, err) in zip(commands, run_verbs(commands), strict=True):
        assert (code, err.split()[1:]) == (2, str(MissingExtraError("torch", "train")).split()), command
    run = shutil.copytree(folders["language-model"] / "run", tmp_path / "run")
    (run / "inference.json").write_text('{"format": 2}')
    [(code, _, err)] = run_verbs([(tmp_path, ["generate", "run"])])
    assert code == 2 and "inference.json has format 2, but this Anaphora reads up to 1: upgrade Anaphora." in err


def test_a_translator_is_served_without_torch(folders: dict[str, Path]) -> None:
    pytest.importorskip("starlette", reason="needs the extra 'serve'")
    program, folder = f"{BAR}os.chdir(commands)\nmain(['serve', 'run', '--port', '0'])", folders[AIDED.name]
    command = [sys.executable, "-c", program, json.dumps([REFUSED, str(folder)])]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(line for line in process.stderr if " at http" in line).split(" at ")[1].strip()
            body = json.dumps({"q": "beg", "source": "en", "target": "fr"}).encode()
            request = Request(f"{address}/translate", body, {"Content-Type": "application/json"})
            with urlopen(request, timeout=30) as answer:
                [expected] = anaphora.load(folder / "run").translate(["beg"])
                assert json.load(answer)["translatedText"] == expected.text
        finally:
            process.kill()
