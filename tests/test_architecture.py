"""The rules of the project that a machine can check: sizes, the tier table, and what the documents promise."""

import ast
import re
import tomllib

from anaphora.tasks.registry import TASKS
from tests.package import PACKAGE, ROOT, code, nodes_of, strings_of

LONGEST = {ast.ClassDef: 250, ast.FunctionDef: 60, ast.AsyncFunctionDef: 60}
"""Lines of a class or a function."""


def test_no_file_class_or_function_is_too_long() -> None:
    tests = {str(path): path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert [place for place, text in (code() | tests).items() if text.count("\n") > 400] == []
    nodes = [(place, node) for place in code() for node in nodes_of(place, *LONGEST)]
    assert [(place, one.name) for place, one in nodes if one.end_lineno - one.lineno >= LONGEST[type(one)]] == []


MAY_NAME_OPTIONS = {"cli", "experiment", "tasks", "data", "datacheck", "run", "serving"}
"""Folders whose messages may name options of the command line; the others are called from Python too."""


def test_no_message_that_python_sees_names_an_option_of_the_command_line() -> None:
    found = {
        place: named
        for place in code()
        if place.split("/")[0] not in MAY_NAME_OPTIONS and not place.endswith("__main__.py")
        if (named := [text for text in strings_of(place) if re.search(r"(^|[^\w-])--[a-z]", text)])
    }
    assert found == {}


def strings(node: ast.AST) -> set[object]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def branches_on(classes: set[str], names: set[str], place: str) -> list[str]:
    """The places of a file that ask for one of these classes, or compare or look up one of these names."""
    found = []
    for node in nodes_of(place, ast.Call, ast.Compare, ast.Dict, ast.Match):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            found += [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and one.id in classes]
        elif (isinstance(node, ast.Compare) and strings(node) & names) or (
            isinstance(node, ast.Dict) and strings(ast.Tuple([key for key in node.keys if key])) & names
        ):
            found.append(ast.unparse(node))
        elif isinstance(node, ast.Match) and any(strings(case.pattern) & names for case in node.cases):
            found.append(ast.unparse(node.subject))
    return found


def test_nothing_outside_the_tasks_branches_on_a_task() -> None:
    configs = [place for place in code() if re.fullmatch(r"tasks/\w+/config\.py", place)]
    classes, names = {node.name for place in configs for node in nodes_of(place, ast.ClassDef)}, set(TASKS)
    assert len(classes) >= len(TASKS)
    outside = [place for place in code() if not place.startswith("tasks/")]
    found = {place: branches for place in outside if (branches := branches_on(classes, names, place))}
    assert found == {"cli/quickstart.py": ["TranslationExperiment"]}  # which trains a translator, whatever comes


def test_a_task_uses_another_by_its_public_face_alone() -> None:
    face = "confidence|config|predictor|task|training|translation"
    inside = re.compile(rf"anaphora\.tasks\.(translation|language_model|alignment)\.(?!({face})$)")
    found = [
        (place, node.module)
        for place in code()
        if place.startswith("tasks/")
        for node in nodes_of(place, ast.ImportFrom)
        if (imported := inside.match(node.module or ""))
        if imported[1] != place.split("/")[1]
    ]
    assert found == []


def layers() -> list[set[str]]:
    """The tiers of the import contract, the lowest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in project["tool"]["importlinter"]["contracts"] if c["id"] == "tiers")
    return [set(re.split(r"[ |:]+", layer)) for layer in reversed(contract["layers"])]


def test_the_tier_table_of_the_architecture_page_is_the_one_that_is_checked() -> None:
    rows = re.findall(r"^\| (\d) \| (.+?) \|", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.MULTILINE)
    drawn: dict[int, set[str]] = {}
    for tier, places in rows:
        drawn.setdefault(int(tier), set()).update(
            name.removesuffix(".py").removesuffix("/") for name in re.findall(r"`([a-z_]+(?:\.py|/)?)`", places)
        )
    assert [drawn[tier] for tier in sorted(drawn)] == layers()


def test_the_reading_path_is_ten_files_and_every_file_that_a_page_for_developers_names_exists() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    path = page.split("## A reading path")[1].split("\n## ")[0]
    assert len(re.findall(r"^\d+\. `[a-z_/]+\.py`: ", path, re.MULTILINE)) == 10
    page += (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    examples = {"src/anaphora/kernels/cells/tanh.py", "src/anaphora/tasks/count_letters.py"}
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", page)) - examples
    places = ROOT, PACKAGE, PACKAGE / "kernels"
    assert {file for file in named if not any((place / file).is_file() for place in places)} == set()


def test_every_place_of_the_package_has_a_tier() -> None:
    places = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert places - {"__init__", "__main__"} <= set.union(*layers())


def test_constraints_pin_every_dependency_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    assert {re.split(r"[<>=!~;\[ ]", name)[0] for name in wanted} <= pinned
