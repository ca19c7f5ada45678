"""The library in C does nothing that its language leaves undefined, and touches no memory but its own."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from anaphora.kernels.compiled.sources import digest

ROOT = Path(__file__).parents[2]
SANITIZERS = ["-fsanitize=address,undefined", "-fsanitize=float-cast-overflow", "-fno-sanitize-recover=all"]
TESTS = [
    "kernels/test_compiled.py",
    "kernels/test_gemm.py",
    "kernels/test_native.py",
    "kernels/test_stepping.py",
    "kernels/test_window.py",
    "search/test_compiled_search.py",
]
FAR = """
import numpy as np
from anaphora.kernels.compiled.library import available
from anaphora.kernels.compiled.loop import run_once
from anaphora.kernels.compiled.softmax import softmax_rows
assert available()
zeros = lambda *shape: np.zeros(shape, np.float32)
values = np.array([0.0, -0.0, 1e-45, -1e-45, 88.0, -87.0, 3e38, -3e38, np.inf, -np.inf, np.nan], np.float32)
for rows in (values, values[::-1], np.full(11, np.nan, np.float32)):
    softmax_rows(True, np.tile(rows, (3, 3)), zeros(0), np.array([0, 9, 32]), None, 0.1)
    gates, x, state = np.tile(rows[:8], (1, 2, 1)), zeros(1, 2, 8), rows[:4].reshape(1, 2, 2).copy()
    run_once("lstm_step", [gates, *(zeros(1, 2, 2) for _ in range(3))], [x, state])
"""


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that runs the package with a sanitized library."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    folder = tmp_path_factory.mktemp("sanitized")
    package = shutil.copytree(ROOT / "src" / "anaphora", folder / "anaphora", ignore=shutil.ignore_patterns("*.so"))
    [built] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["ext-modules"]
    output = package / "kernels" / "compiled" / "_library.so"
    sources = [str(ROOT / source) for source in built["sources"]]
    identity = f"-DSOURCES_DIGEST={digest(output.parent)}"
    flags = [*built["extra-compile-args"], identity, "-g", "-O1", "-fPIC", "-shared", *SANITIZERS]
    runtime = folder / "runtime"
    if compiler:
        done = subprocess.run([compiler, *flags, *sources, "-o", str(output)], capture_output=True, check=False)
        found = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
        runtime = Path(found.stdout.strip())
    if not compiler or done.returncode or not runtime.is_absolute():
        pytest.skip("there is no compiler with sanitizers")
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
        "LD_PRELOAD": str(runtime),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python itself frees nothing when it leaves
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@pytest.mark.slow
def test_numbers_far_out_do_nothing_undefined(sanitized: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", FAR], env=sanitized, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "chosen"), [("kernels/test_scan.py", ["-m", "not slow", "-k", "bits"]), *((name, []) for name in TESTS)]
)
def test_tests_of_kernels_pass_under_sanitizers(sanitized: dict[str, str], name: str, chosen: list[str]) -> None:
    options = ["-qx", "-rs", "-p", "no:cacheprovider", "--fast-seconds=300"]  # sanitizers take several times as long
    command = [sys.executable, "-m", "pytest", *options, *chosen, str(ROOT / "tests" / name)]
    done = subprocess.run(command, env=sanitized, capture_output=True, text=True, cwd=ROOT, check=False)
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert done.returncode == 0 and " passed" in done.stdout.splitlines()[-1], done.stdout + done.stderr
    assert [line for line in skipped if "the processor lacks" not in line] == []
