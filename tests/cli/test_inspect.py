"""``anaphora inspect``: what a run supports, numbers and pictures, and one sentence for whatever is wrong."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.events import silent
from anaphora.inspection.gates import gates
from anaphora.inspection.gradients import gradients
from anaphora.inspection.subject import Subject
from tests.conftest import Trained
from tests.faults.tasks import SAMPLES

from .conftest import Cli


@pytest.fixture(scope="module")
def runs(trained: Trained, toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs "translator", "blind" and "model", and texts."""
    folder, epoch = tmp_path_factory.mktemp("runs"), "training.epochs=1"
    shutil.copytree(toy_data / "pairs", folder, dirs_exist_ok=True)
    shutil.copy(toy_data / "book.txt", folder)
    (folder / "empty.txt").touch()
    shutil.copytree(trained("translator", epoch), folder / "translator")
    shutil.copytree(trained("translator", epoch, "attention=none"), folder / "blind")
    shutil.copytree(trained("language-model", epoch), folder / "model")
    return folder


def test_without_a_verb_it_says_what_a_run_supports_and_why_not_the_rest(runs: Path, cli: Cli) -> None:
    shown = cli("inspect", runs / "translator").out
    assert [line.split()[0] for line in shown.splitlines() if " no: " in line] == ["span"] and "attention" in shown
    assert "attention    no: it writes no text from a source" in cli("inspect", runs / "model").out
    assert "no: it has no attention" in cli("inspect", runs / "blind").out
    assert "gates        gates over a sentence" in cli("inspect").out and "export RUN --to html" in cli("inspect").out


FORMS = "png", "svg", "json"
VERBS = (
    "attention --source test.en --target test.fr",
    "gates --text adf --target-text fda",
    "gates test.en",
    "gradients --text adf --fresh",
    "neighbours --text adf",
    "attribute --text adf",
    "attribute --text adf --token 1",
    "beam --text adf --beam 2",
    "report --text adf",
    "beam test.en --beam 2",
    "length --source test.en --target test.fr",
    "embeddings --text a --text d",
    "embeddings train.en",
    "curves",
)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_a_translator_as_text_and_json(runs: Path, verb: str, cli: Cli) -> None:
    cli.enter(runs)
    assert cli("inspect", "translator", *verb.split()).out.strip()
    assert all(isinstance(one, dict) for one in cli("inspect", "translator", *verb.split(), "--json").objects)


@pytest.mark.parametrize(
    ("verb", "stems"), [(VERBS[0], [f"attention-{n}" for n in "123"]), (VERBS[-3], ["embeddings"])]
)
def test_pictures_are_written_with_their_numbers(verb: str, stems: list[str], runs: Path, cli: Cli) -> None:
    cli.enter(runs)
    cli("inspect", "translator", *verb.split(), "--output", cli.folder)
    assert {path.name for path in cli.folder.iterdir()} == {f"{stem}.{form}" for stem in stems for form in FORMS}
    assert all(json.loads(path.read_text()) for path in cli.folder.glob("*.json"))


def test_a_language_model_shows_gates_cells_gradients_and_beams(runs: Path, cli: Cli) -> None:
    shown = cli("inspect", runs / "model", "gates", runs / "book.txt").out
    assert "position" in shown and "below 0.1" in shown
    assert "items sum to the whole gradient" in cli("inspect", runs / "model", "gradients", "--text", "line 3").out
    both = cli("inspect", runs / "model", runs / "model", "gradients", "--text", "line 3", "--json").objects
    assert [one["text"] for one in both[0]["gradients"]] == ["line 3"] * 2
    assert "greedy" in cli("inspect", runs / "model", "beam", "--text", "line", "--beam", "2").out
    assert "loss" in cli("inspect", runs / "model", "length", runs / "book.txt").out


def test_memory_spans_need_no_run_and_contexts_need_one(runs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from anaphora.inspection import remedies, span

    plan = replace(span.QUICK, size=4, sequences=64, longest=4)
    monkeypatch.setattr(span, "QUICK", plan)
    assert "lstm, forget bias 1" in cli("inspect", "span", "--quick", "--output", cli.folder).out
    assert {path.name for path in cli.folder.iterdir()} == {"span.jsonl", "span.png", "span.svg", "span.json"}
    assert "effective context" in cli("inspect", runs / "model", "span", runs / "book.txt").out
    monkeypatch.setattr(remedies, "REMEDIES", dict(list(remedies.REMEDIES.items())[:2]))
    monkeypatch.setattr(remedies.remedies, "__defaults__", (4, 2, silent))
    assert "clipping" in cli("inspect", "gradients", "--remedies").out


def test_lessons_and_diagrams_need_no_run(cli: Cli) -> None:
    assert "1.51763" in cli("inspect", "explain", "lstm", "--output", cli.folder).out
    assert "1.51763" in (cli.folder / "lstm.html").read_text() and json.loads((cli.folder / "lstm.json").read_text())
    assert "________" in cli("inspect", "explain", "lstm", "--blank", "--output", cli.folder).out
    assert {path.name for path in cli.folder.iterdir()} == {"lstm.html", "lstm.json", "lstm-blank.html"}
    assert "1.51763" not in (cli.folder / "lstm-blank.html").read_text()
    assert "1.51763" in (cli.folder / "lstm.html").read_text()  # the answers to the sheet
    assert "sigm(0.95 x 1 + 0.8 x 2 + 0.5 x 0" in cli("inspect", "explain", "lstm", "U_i=0.5").out
    assert "seed 7" in cli("inspect", "explain", "lstm", "--seed", "7", "--output", cli.folder).out
    assert json.loads((cli.folder / "lstm-7.json").read_text())["seed"] == 7
    assert "layer 1: recurrent" in cli("inspect", "diagram", "character-lm").out
    assert "W_f x\u209c + U_f h" in cli("inspect", "diagram", "lstm", "--output", cli.folder).out
    assert "U_g (r \u00d7 h" in cli("inspect", "diagram", "gru", "reset=before").out
    assert "W\u00b2" in cli("inspect", "diagram", "character-lm", "recurrence.layers=2").out
    assert "<svg" in (cli.folder / "diagram-lstm.svg").read_text()
    assert json.loads((cli.folder / "diagram-lstm.json").read_text()) != json.loads(
        (cli.folder / "lstm.json").read_text()
    )


WRONG = {
    "model attention --text line": "has no alignments to show: it writes no text from a source",
    "model attention": "model does not support inspect attention: it writes no text from a source",
    "translator attention empty.txt": "empty.txt has no lines",
    "translator attention": "takes a text: name a FILE",
    "translator gates --text a --text b": "takes one text, but 2 were given",
    "translator model gates --text a": "takes one run, but 2 were given",
    "gates --text a": "takes a run: name its folder",
    "explanation lstm": "'explanation' is neither a run nor a verb. Known verbs: attention",
    "translator model": "'model' is a second run without something to show. Known verbs: attention",
    "translator attention test.en --text a": "three ways to give a text",
    "translator attention --target test.fr": "--target belongs to --source, which is missing.",
    "translator attention --source test.en --target train.fr": "3 texts but 12 targets",
    "translator curves --output model": "folder of their own",
    "translator attribute --text adf --instead a": "--instead belongs to --token, which is missing",
    "span": "takes hours, and goes on from what it finds in --output FOLDER",
    "translator span test.en": "does not support inspect span: it is no language model",
    "gradients": "takes a run: name its folder, or add --remedies",
    "translator gates --text a --fresh": "--fresh has no effect on inspect gates: leave it out",
    "translator gradients --remedies": "--remedies has no effect on inspect gradients",
    "gradients --text a": "--text has no effect on inspect gradients without a run",
    "explain": "takes one of additive, ",
    "explain lstm bptt": "takes one of additive, ",
    "explain truncation K=0": "K should be like 2, but is 0",
    "explain lstm x.1=[1]": "x[1] should be like [1, 2], but is [1]",
    "explain lsmt": "Did you mean",
    "model explain lstm": "takes no run: leave model out",
    "diagram": "takes a recipe, a run or a unit",
    "diagram ptb-ngram": "has no steps to draw",
    "diagram gru lstm": "perhaps with options",
    "diagram gru resett=before": "resett",
}


@pytest.mark.parametrize("command", WRONG)
def test_whatever_is_wrong_is_one_sentence(runs: Path, command: str, cli: Cli) -> None:
    cli.enter(runs)
    assert WRONG[command] in cli("inspect", *command.split(), code=2).err.splitlines()[-1]


def test_a_missing_extra_is_answered_with_the_pip_line(runs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = cli("inspect", runs / "translator", "embeddings", "--text", "a", "--output", cli.folder / "out", code=2)
    assert "pip install 'anaphora[plot]'" in shown.err


RUNS = Path(__file__).resolve().parents[1] / "runs"
STORED = sorted(path.parent for path in RUNS.glob("kinds-2/*/experiment.toml"))


def train_sample(task: str, cli: Cli) -> None:
    """Train "run", the sample of a task, and stay in its folder."""
    [sample] = [one for one in SAMPLES if one.name == task]
    sample.write(cli.folder)
    cli.enter()
    cli(*sample.training(), "--set", "training.epochs=1")


def supported(cli: Cli, run: object) -> list[str]:
    """Verbs that a run supports."""
    *lines, _ = cli("inspect", run).lines
    return [line.split()[0] for line in lines if " no: " not in line]


@pytest.mark.parametrize("run", [*STORED, RUNS / "format-2"], ids=lambda run: run.name)
def test_every_stored_run_says_what_it_supports(run: Path, cli: Cli) -> None:
    found = {*supported(cli, run)}
    has_layers = run.name in ("language-model", "format-2")
    assert found >= {"curves"} | ({"gates", "gradients", "beam", "length", "embeddings"} if has_layers else set())
    assert has_layers or not {"gates", "gradients", "attention"} & found


def test_a_classifier_shows_its_encoder_for_a_class_of_ours_or_its_own(cli: Cli) -> None:
    train_sample("classify", cli)
    subject = Subject.open(Path("run"))
    found = gates(subject, "the adf is a")
    assert [unit.unit.split(".")[-1] for unit in found.units] == ["right_to_left layer0", "left_to_right layer0"]
    good, bad = (gradients(subject, "the adf is a", label) for label in ("good", "bad"))
    assert good.itemised[0].total != bad.itemised[0].total
    assert all(item.difference < 1e-12 for item in (*good.itemised, *bad.itemised))
    complaint = cli.refuse("inspect", "run", "gradients", "--text", "adf", "--target-text", "goood")
    assert "class 'goood' is unknown" in complaint


def test_a_tagger_shows_its_encoder(cli: Cli) -> None:
    train_sample("tag", cli)
    found = cli("inspect", "run", "gradients", "--text", "adf beg 3", "--json").json["gradients"]
    assert found["reach"][0]["steps"] == ["3", "beg", "adf"]
    assert all(item["difference"] < 1e-12 for item in found["itemised"])


def test_a_transducer_is_looked_into_as_the_translator_that_it_is(cli: Cli) -> None:
    train_sample("transduce", cli)
    assert "span" not in supported(cli, "run")
    [found] = cli("inspect", "run", "attention", "--text", "adf", "--json").json["attention"]
    assert found["source_pieces"] == ["a", "d", "f", "</s>"]


def test_a_model_of_values_has_curves_alone(cli: Cli) -> None:
    train_sample("trace", cli)
    assert supported(cli, "run") == ["curves", "report"]
