"""Pages, notebooks and help texts: what they show is understood, what they name is there, and nothing is left out."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer

from anaphora import recipes
from anaphora.cli.options import AdaptationOptions
from anaphora.errors import ConfigError, MissingExtraError
from anaphora.events import Event
from anaphora.experiment.reading import read_experiment
from anaphora.run.upgrade import GONE, NAMES, VALUES
from tests.site import COMMANDS, MADE, ROOT, SITE, anchors, build, commands, linked, links, pages, settings

PAGES = pages()
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
    assert len(shown) > 5 and [(where, line, fault) for where, line in shown if (fault := fault_of(line))] == []


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


def test_links_lead_to_pages_and_headings_that_exist() -> None:
    known = {path: anchors(path) for path in linked() if path.suffix == ".md"}
    for page in known:
        for link, path, anchor in links(page):
            assert path.exists(), f"{page.relative_to(ROOT)}: {link}"
            assert not anchor or anchor in known[path], f"{page.relative_to(ROOT)}: {link}"


def test_the_index_and_the_site_have_every_page() -> None:
    written = {str(page.relative_to(ROOT)) for page in PAGES}
    listed = re.findall(r'"([\w/-]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(written | set(MADE))
    index = ROOT / "docs" / "README.md"
    assert sorted({ROOT / "README.md", index, *(path for _, path, _ in links(index))}) == PAGES


def test_the_reference_of_the_site_has_every_command_option_and_table() -> None:
    page = commands()
    for verb, command in COMMANDS.items():
        assert f"\n## {verb}\n" in page
        options = [option for one in command.params for option in one.opts if option != one.name]
        assert [option for option in options if option not in page] == []
    assert "\n## decoder\n" in settings() and "readout_size" in settings()


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
    for where, recipe, changes in SET:
        read_experiment(recipes.read(recipe), where, changes, report=reported.append)
    assert reported == []


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_the_site_is_accessible_and_its_search_needs_no_network() -> None:
    pytest.importorskip("zensical")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    from playwright.sync_api import sync_playwright

    assert build() == 0
    found = list[str]()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 360, "height": 640})
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        for name, scheme in product(("index", "docs/reference/search"), ("light", "dark")):
            page.emulate_media(color_scheme=scheme)
            page.goto((SITE / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
            result = axe.run(page)
            found += [f"{name}, {scheme}: {result.generate_report()}"] if result.violations_count else []
        page.set_viewport_size({"width": 1200, "height": 800})
        page.click(".md-search__button")
        page.get_by_placeholder("Search").fill("glossaries")
        page.get_by_role("heading", name="Glossaries").first.wait_for()
        browser.close()
    assert found == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.slow
def test_examples_in_python_call_what_there_is_as_it_is_called(tmp_path: Path) -> None:
    for page in PAGES:
        examples = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for number, example in enumerate(examples):
            (tmp_path / f"{page.stem.replace('-', '_')}_{number}.py").write_text(example, encoding="utf-8")
    # an example may use names and files that earlier ones of its page define, and functions without types
    unchecked = ("name-defined", "import-not-found", "no-untyped-def", "var-annotated")
    options = [*(f"--disable-error-code={code}" for code in unchecked), f"--cache-dir={tmp_path / 'cache'}"]
    options.append("--follow-imports=silent")
    command = [sys.executable, "-m", "mypy", *options, *map(str, sorted(tmp_path.glob("*.py")))]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_the_page_lists_every_renamed_option_and_value_and_nothing_else() -> None:
    def dotted(table: str, option: str) -> str:
        return f"{table}.{option}" if table else option

    options = [
        f"| `{dotted(table, old)}` | " + ("removed" if new == GONE else f"`{dotted(table, new)}` |")
        for table, names in NAMES.items()
        for old, new in names.items()
    ]
    changed_values = [
        f'| `{dotted(table, option)}` | `"{old}"` | `"{new}"` |'
        for (table, option), values in VALUES.items()
        for old, new in values.items()
    ]
    page = (ROOT / "docs" / "reference" / "renamed-options.md").read_text(encoding="utf-8")
    assert [row for row in (*options, *changed_values) if row not in page] == []
    assert sum(line.startswith("| `") for line in page.splitlines()) == len(options) + len(changed_values)


NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return found


def test_notebooks_are_stored_without_outputs() -> None:
    code = [cell for notebook in NOTEBOOKS for cell in cells(notebook) if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert len(NOTEBOOKS) == 2 and len(code) > 10


def test_pages_that_notebooks_name_are_there() -> None:
    for notebook in NOTEBOOKS:
        text = "".join(line for cell in cells(notebook) for line in cell["source"] if cell["cell_type"] == "markdown")
        named = re.findall(r"\]\(([^)#]+)", text)
        assert named and [name for name in named if not (notebook.parent / name).is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_shows_what_it_promises(notebook: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    opened = nbformat.read(notebook, as_version=4)
    nbformat.validate(opened)
    NotebookClient(opened, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output for cell in opened.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.get("name") == "stderr"], shown
    assert sum("text/html" in output.get("data", {}) for output in shown) == 2
    assert list(tmp_path.iterdir()) == []  # a notebook leaves nothing beside it
