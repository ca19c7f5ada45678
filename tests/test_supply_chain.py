"""What the package may not do: run what it reads, start programs, or reach the network outside of fetching corpora."""

import ast

from tests.package import code, tree_of

EXECUTES = {
    *("pickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml", "code", "runpy", "subprocess", "pty")
}
REACHES = {
    *("socket", "ssl", "urllib.request", "urllib.error", "http", "ftplib", "smtplib", "requests", "httpx", "aiohttp"),
    *("uvicorn", "torch.distributed"),
}
ON_THE_NETWORK = ("data/download.py", "serving/", "training/ranks.py")
STARTING_PROCESSES = ("bulk/", "data/encoding.py", "data/processes.py")
"""Where worker processes are spawned: what they are sent is pickled by us, never read from anywhere else."""
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = (
    *("torch.load", "torch.save", "torch.hub", "torch.jit.load", "torch.package"),
    *(f"{name}.{load}" for name in ("numpy", "np") for load in ("load", "memmap.load", "lib.format.read_array")),
    *(f"os.{name}" for name in ("system", "popen", "exec", "fork", "spawn", "posix_spawn", "startfile")),
    *("asyncio.create_subprocess", "asyncio.open_connection", "ctypes.pythonapi"),
)
"""How what may not be used begins; the functions of ``os`` have several endings."""

HARMLESS = ("numpy.lib.format.read_array_header", "np.lib.format.read_array_header", "os.exec_prefix")
SWITCHES = {"allow_pickle": False, "weights_only": True, "trust_remote_code": False, "shell": False}
"""Arguments by which others load or run something, and the one value that they may have."""


def faults(tree: ast.Module, place: str) -> list[str]:
    """What a file does that it may not, each with its line."""
    found = []
    banned = EXECUTES if place.startswith(ON_THE_NETWORK) else EXECUTES | REACHES
    if not place.startswith(STARTING_PROCESSES):
        banned = banned | {"multiprocessing", "ray"}
    for node in ast.walk(tree):
        names: list[str] = []
        if not isinstance(node, ast.stmt | ast.expr):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        found += [
            f"{place}:{node.lineno} imports {name}" for name in names if _within(name, banned) or _is_banned(name)
        ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            found.append(f"{place}:{node.lineno} calls {node.func.id}")
        if isinstance(node, ast.Call):
            values = {one.arg: getattr(one.value, "value", None) for one in node.keywords if one.arg in SWITCHES}
            found += [f"{place}:{node.lineno} has {arg}" for arg, value in values.items() if value != SWITCHES[arg]]
        if isinstance(node, ast.Attribute) and _is_banned(_dotted(node)):
            found.append(f"{place}:{node.lineno} uses {_dotted(node)}")
    return found


def _dotted(node: ast.expr) -> str:
    """Return the dotted name of an attribute of a module, or nothing."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is_banned(name: str) -> bool:
    return name.startswith(METHODS) and not name.startswith(HARMLESS)


def _within(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def test_nothing_executes_what_it_reads_or_reaches_the_network() -> None:
    assert [fault for place in code() for fault in faults(tree_of(place), place)] == []


FOUND = (
    "from torch import load",
    "import torch\ntorch.load(path)",
    "eval(text)",
    "from subprocess import run",
    "import urllib.request",
    "import os\nos.execvp(text, [])",
    "import numpy as np\nnp.lib.format.read_array(file)",
    "read(path, allow_pickle=wanted)",
)


ALLOWED = {
    "import socket": ("data/download.py", "data/downloads.py"),
    "import http.client": ("serving/app.py", "run/files.py"),
    "import ray": ("bulk/engines.py", "data/example_store.py"),
    "from multiprocessing.connection import Connection": ("bulk/engines.py", "data/example_store.py"),
}


def test_each_of_them_is_found_and_the_network_and_processes_are_for_a_few_files() -> None:
    assert [text for text in FOUND if not faults(ast.parse(text), "run/files.py")] == []
    for text, (allowed, elsewhere) in ALLOWED.items():
        assert not faults(ast.parse(text), allowed) and faults(ast.parse(text), elsewhere)
        assert faults(ast.parse("import pickle"), allowed)
