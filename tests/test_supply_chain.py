"""What the package may not do: run what it reads, start programs, or reach the network outside of fetching corpora."""

import ast
from pathlib import Path

import pytest

import anaphora

ROOT = Path(anaphora.__file__).parent
EXECUTES = {
    "pickle",
    "dill",
    "cloudpickle",
    "marshal",
    "shelve",
    "joblib",
    "yaml",
    "code",
    "runpy",
    "subprocess",
    "pty",
}
REACHES = {
    "socket",
    "ssl",
    "urllib.request",
    "urllib.error",
    "http",
    "ftplib",
    "smtplib",
    "requests",
    "httpx",
    "aiohttp",
}
ON_THE_NETWORK = ("data/download.py", "serving/")
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {
    "torch.load",
    "torch.save",
    "numpy.load",
    "np.load",
    "os.system",
    "os.popen",
    "os.execv",
    "os.fork",
    "os.spawnv",
}


def faults(code: str, place: str) -> list[str]:
    """What a file does that it may not, each with its line."""
    found = []
    banned = EXECUTES if place.startswith(ON_THE_NETWORK) else EXECUTES | REACHES
    for node in ast.walk(ast.parse(code)):
        names: list[str] = []
        if not isinstance(node, ast.stmt | ast.expr):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += [f"{place}:{node.lineno} imports {name}" for name in names if _within(name, banned) or name in METHODS]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            found.append(f"{place}:{node.lineno} calls {node.func.id}")
        if isinstance(node, ast.Attribute) and ast.unparse(node) in METHODS:
            found.append(f"{place}:{node.lineno} uses {ast.unparse(node)}")
    return found


def _within(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_nothing_executes_what_it_reads_or_reaches_the_network(file: Path) -> None:
    assert faults(file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from torch import load",
        "import torch\ntorch.load(path)",
        "eval(text)",
        "exec(text)",
        "import yaml",
        "from subprocess import run",
        "import socket",
        "from urllib import request",
        "import urllib.request",
        "import os\nos.system(text)",
    ],
)
def test_each_of_them_is_found(code: str) -> None:
    assert faults(code, "run/files.py")


def test_fetching_and_serving_may_use_the_network_and_nothing_else() -> None:
    assert not faults("import socket", "data/download.py")
    assert not faults("import http.client", "serving/app.py")
    assert faults("import socket", "data/downloads.py")
    assert faults("import pickle", "data/download.py")
