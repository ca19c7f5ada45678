"""Every command and every call that a document or a help text shows is one that the program understands."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from anaphora import recipes
from anaphora.cli.app import app
from anaphora.cli.options import AdaptationOptions
from anaphora.errors import ConfigError, MissingExtraError
from anaphora.events import Event
from anaphora.experiment.reading import read_experiment
from tests.conftest import Trained

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
USAGE_ERROR: Any = typer.BadParameter.__base__  # of the click that typer has


def shown(text: str) -> list[str]:
    """The command lines of a text: indented, continued lines joined, pipes and redirections cut off."""
    joined = re.sub(r" \\\n +", " ", text)
    lines = re.findall(r"^ {4}(?:[^\n]*\| )?(anaphora [a-z][^\n|>]*)", joined, re.MULTILINE)
    return [line.partition("  #")[0].strip() for line in lines if "[" not in line]


DOCUMENTED = [(str(page.relative_to(ROOT)), line) for page in PAGES for line in shown(page.read_text(encoding="utf-8"))]
HELPED = [
    (verb, line) for verb, command in COMMANDS.items() for line in shown(str(command.epilog).replace("\n  ", "\n    "))
]
IN_RECIPES = [
    (name, line)
    for name in recipes.names()
    for line in re.findall(
        r"^# .*? {2,}(anaphora (?:train|fetch|evaluate|generate|quickstart).*?)(?:  |$)", recipes.read(name), re.M
    )
]


def fault_of(line: str) -> str:
    """Return what is wrong with a command line, or nothing."""
    verb, *arguments = shlex.split(line)[1:]
    if verb not in COMMANDS:
        return "no such command"
    try:
        recipe = COMMANDS[verb].make_context(verb, arguments).params.get("recipe", "")
    except (USAGE_ERROR, ConfigError) as error:
        return str(error)
    return "" if recipe in ("", "RECIPE", *recipes.names()) or recipe.endswith(".toml") else "no such recipe"


@pytest.mark.parametrize("shown", [DOCUMENTED, HELPED, IN_RECIPES], ids=["documents", "help", "recipes"])
def test_every_command_that_is_shown_is_understood(shown: list[tuple[str, str]]) -> None:
    assert [(where, line, fault) for where, line in shown if (fault := fault_of(line))] == []


def test_every_adaptation_that_is_shown_is_understood() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES] + [line for _, line in HELPED]
    values = [found for text in texts for found in re.findall(r"--(neural-cache|dynamic) ([a-z]+=[^\s`]+|\d\S*)", text)]
    assert {option for option, _ in values} == {"neural-cache", "dynamic"}
    for option, value in values:
        AdaptationOptions(**{option.replace("-", "_"): value.rstrip("`.:")}).value()


def test_an_extra_is_installed_from_a_checkout_too() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for text in [*(page.read_text(encoding="utf-8") for page in PAGES), str(MissingExtraError("FastAPI", "serve"))]:
        for extra in re.findall(r"pip install 'anaphora\[(\w+)\]'", text):
            assert extra in extras
            assert f"pip install '.[{extra}]'" in text


def test_there_are_commands_to_look_at() -> None:
    assert min(len(DOCUMENTED), len(HELPED), len(IN_RECIPES)) > 5


def test_the_index_names_every_page_once() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} - {"README.md"}
    assert sorted(re.findall(r"^\| \[[^\]]+\]\(([a-z/-]+\.md)\) \|", index, re.MULTILINE)) == sorted(pages)


SET = [
    (where, context.params["recipe"], context.params["settings"])
    for where, line in [*DOCUMENTED, *HELPED]
    for verb, *arguments in [shlex.split(line)[1:]]
    if verb == "train"
    for context in [COMMANDS[verb].make_context(verb, arguments)]
    if context.params["recipe"] in recipes.names() and context.params["settings"]
]


def test_every_option_that_a_command_sets_is_one_of_the_recipe_by_its_present_name() -> None:
    reported = list[Event]()
    for where, recipe, settings in SET:
        read_experiment(recipes.read(recipe), where, settings, report=reported.append)
    assert reported == []


def test_the_example_of_the_page_on_attention_draws_its_weights(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained("translator"), tmp_path / "runs" / "en-de")
    page = (ROOT / "docs" / "explain" / "attention.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?draw_attention.*?)```", page, re.DOTALL)
    exec(compile(example, "attention.md", "exec"), {})
    assert Path("walking.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_examples_in_python_call_what_there_is_as_it_is_called(tmp_path: Path) -> None:
    for page in PAGES:
        for number, example in enumerate(
            re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        ):
            (tmp_path / f"{page.stem.replace('-', '_')}_{number}.py").write_text(example, encoding="utf-8")
    # an example may use names that earlier ones of its page define
    options = ["--follow-imports=silent", "--disable-error-code=name-defined", f"--cache-dir={tmp_path / 'cache'}"]
    command = [sys.executable, "-m", "mypy", *options, *map(str, sorted(tmp_path.glob("*.py")))]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
