"""Prediction without torch: neither torch nor what trains is imported with the modules of the predicting half."""

import json
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

PACKAGES = ("prediction", "search", "memory", "bulk", "serving", "formats", "text", "data")
MODULES = (
    *(f"tasks.{task}.predictor" for task in ("alignment", "classify", "describe", "language_model", "tag", "trace")),
    *("tasks.transduce.predictor", "tasks.translation.predictor", "tasks.evaluation", "tasks.language_model.scores"),
    *("tasks.language_model.generation", "tasks.translation.confidence", "tasks.translation.constraints"),
    *("tasks.translation.documents", "tasks.translation.forced_decoding", "tasks.translation.pipeline"),
    *("tasks.translation.shortlist", "tasks.translation.tag_places", "tasks.translation.tm_lookup"),
    *("tasks.translation.translation", "tasks.translation.unmasking", "evaluation.adaptation"),
    *("cli.align", "cli.app", "cli.bulk", "cli.calibrate", "cli.documents", "cli.draw", "cli.evaluate"),
    *("cli.generate", "cli.memory", "cli.options", "cli.predict", "cli.rescore", "cli.score", "cli.serve"),
    *("cli.shortlist", "cli.talk", "cli.translate", "cli.translations"),
)
REFUSED = ("torch", "safetensors.torch", "anaphora.models", "anaphora.nn", "anaphora.training", "anaphora.experiment")

PROGRAM = """
import builtins, importlib, json, sys

modules, refused = json.loads(sys.argv[1])
original = builtins.__import__


def within(name, packages):
    return any(f"{name}.".startswith(f"{one}.") for one in packages)


def refuse(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    for one in (name, *(f"{name}.{part}" for part in fromlist or ())):
        if within(importer, ["anaphora"]) and within(one, refused):
            raise ImportError(f"{importer} imports {one}")
    return original(name, globals, locals, fromlist, level)


builtins.__import__ = refuse
for module in modules:
    importlib.import_module(module)
assert "torch" not in sys.modules
"""


def test_what_predicts_imports_neither_torch_nor_what_trains() -> None:
    modules = [f"anaphora.{name}" for name in (*PACKAGES, *MODULES)]
    for name in modules[: len(PACKAGES)]:
        inside = walk_packages(import_module(name).__path__, f"{name}.")
        modules += [one.name for one in inside if not one.name.endswith("__main__")]
    asked = json.dumps([modules, REFUSED])
    ran = subprocess.run([sys.executable, "-c", PROGRAM, asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "asked", ["anaphora.train", "sys.exit(main(['train', 'multi30k-en-de', '--data', 'x', '--run', 'y']))"]
)
def test_what_trains_says_what_to_install(asked: str) -> None:
    program = f"import sys\nsys.modules['torch'] = None\nimport anaphora\nfrom anaphora.cli.app import main\n{asked}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.returncode == (2 if "main" in asked else 1)
    assert "This needs torch" in ran.stderr and "pip install 'anaphora[train]'" in ran.stderr
