"""The public API: its names and methods, which may not come or go unseen; an example for each, which runs."""

import doctest
import inspect
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import anaphora
from tests.conftest import TINY_LANGUAGE_MODEL, Trained
from tests.package import ROOT

METHODS = {
    "AlignmentPredictor": "align align_stream dictionary",
    "LanguageModelPredictor": "BaseFullScore BaseScore BeginSentenceWrite NullContextWrite State adapt evaluate "
    "full_scores generate generate_stream perplexity rescore_stream score score_lines score_stream",
    "Translation": "links soft_links",
    "TranslationPredictor": "align align_stream align_translation ensemble fuse_with knows score_pairs score_stream "
    "stream translate translate_text with_languages",
}
"""What a person calls, by class."""
WITHIN = {
    "LanguageModelPredictor": "check example noun order score_lines_of search_for stepper_over",
    "AlignmentPredictor": "noun",
    "Translation": "is_below join matches of origin with_attention withheld",
    "TranslationPredictor": "attends batches calibration example score_lines_of search search_for stand_ins",
}
"""What the package calls itself."""
PUBLIC = """AlignmentPredictor AnaphoraError ExperimentBase Framed LanguageModelPredictor Limits Sampling SearchOptions
Shortlist Translation TranslationPredictor __version__ about load read_experiment train trial_model"""


def documented() -> dict[str, Any]:
    """Whatever has a docstring that the public API promises, by its name."""
    found = {name: getattr(anaphora, name) for name in anaphora.__all__ if name != "__version__"}
    methods = {
        f"{owner}.{name}": inspect.getattr_static(getattr(anaphora, owner), name)
        for owner, names in METHODS.items()
        for name in names.split()
    }
    return {"anaphora": anaphora} | found | methods


def test_public_names_are_pinned_and_importing_them_imports_nothing_heavy() -> None:
    assert anaphora.__all__ == dir(anaphora) == PUBLIC.split()
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = anaphora.lod  # type: ignore[attr-defined]
    heavy = {"torch", "numpy", "sentencepiece", "sacrebleu", "sacremoses", "matplotlib", "rich", "pydantic"}
    script = f"import sys, anaphora; sys.exit(bool({heavy} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("owner", METHODS)
def test_public_methods_are_pinned(owner: str) -> None:
    public = {name for name in dir(getattr(anaphora, owner)) if not name.startswith("_")}
    fields = {*getattr(getattr(anaphora, owner), "__dataclass_fields__", ())}
    assert public - fields == {*METHODS[owner].split(), *WITHIN.get(owner, "").split()}


def test_help_begins_with_a_first_example() -> None:
    first, _, rest = (anaphora.__doc__ or "").partition("\n\n")
    assert first.endswith(".") and rest.startswith(">>> import anaphora")


def test_every_public_name_and_method_is_in_an_example_of_its_own_or_of_its_class() -> None:
    found = documented()
    lacking = []
    for name, thing in found.items():
        owner, _, method = name.partition(".")
        own = ">>>" in (inspect.getdoc(thing) or "")
        if not own and f".{method or owner}(" not in (inspect.getdoc(found[owner]) or "").partition(">>>")[2]:
            lacking.append(name)
    assert lacking == []


@pytest.fixture(scope="module")
def runs(trained: Trained, toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs that examples name."""
    from anaphora.experiment.reading import read_experiment
    from anaphora.experiment.run_training import train
    from anaphora.tasks.base import StartConfig

    folder = tmp_path_factory.mktemp("examples")
    translator = trained("translator-of-words", "training.epochs=60", "guided_alignment.kind=learn")
    shutil.copytree(translator, folder / "runs" / "en-fr")
    stored = ROOT / "tests" / "runs" / "kinds-2"
    shutil.copytree(trained("counts"), folder / "runs" / "book")
    shutil.copytree(stored / "language-model", folder / "runs" / "network")
    shutil.copytree(stored / "aligner", folder / "runs" / "links")
    shutil.copy(toy_data / "book.txt", folder)
    start = StartConfig.parse({"run": str(translator), "vocabulary": "only"}, "test")
    french = toy_data / "sentences" / "train.fr"
    train(read_experiment(TINY_LANGUAGE_MODEL, "tiny.toml", data=[french], start=start), folder / "runs" / "french")
    return folder


def test_every_example_runs_and_prints_what_it_says(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs)
    names = {
        "anaphora": anaphora,
        "Path": Path,
        "aligner": anaphora.load("runs/links"),
        "model": anaphora.load("runs/book"),
        "translator": anaphora.load("runs/en-fr"),
    }
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name, thing in documented().items():
        text = inspect.getdoc(thing) or ""
        runner.run(doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0), out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
    assert runner.tries > 40


TYPED = """
from typing import Any, assert_type

import anaphora

assert_type(anaphora.load("runs/en-fr", kind=anaphora.TranslationPredictor), anaphora.TranslationPredictor)
assert_type(anaphora.load("runs/book", kind=anaphora.LanguageModelPredictor), anaphora.LanguageModelPredictor)
assert_type(anaphora.load("runs/links", "latest", kind=anaphora.AlignmentPredictor, device="cpu"),
            anaphora.AlignmentPredictor)
assert_type(anaphora.load("runs/any", precision="int8"), Any)
anaphora.load("runs/any", devise="cpu")  # type: ignore[call-overload]
"""


@pytest.mark.slow
def test_type_checkers_know_what_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "typed.py").write_text(TYPED, encoding="utf-8")
    options = ["--follow-imports=silent", f"--cache-dir={tmp_path / 'cache'}"]
    command = [sys.executable, "-m", "mypy", *options, str(tmp_path / "typed.py")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
