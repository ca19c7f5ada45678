"""How the library in C is built and found: with OpenMP or without, in a checkout or installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from ctypes import CDLL
from pathlib import Path

import pytest

from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.kernels.compiled.library import available, is_built_of
from anaphora.kernels.compiled.sources import digest

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which(os.environ.get("CC", "cc"))
NEEDS_COMPILER = pytest.mark.skipif(not COMPILER, reason="there is no C compiler")
WITHOUT_OPENMP = """#!/bin/sh
for argument in "$@"; do
    if [ "$argument" = -fopenmp ]; then
        echo "unsupported option '-fopenmp'" >&2
        exit 1
    fi
done
exec {compiler} "$@"
"""
SOURCES = Path("src/anaphora/kernels/compiled")
AVAILABLE = "from anaphora.kernels.compiled.library import available; print(available())"
SCAN = """
import sys
from pathlib import Path
from unittest.mock import patch
import torch
import anaphora
from anaphora.kernels import native
from anaphora.kernels.cells import Lstm
from anaphora.kernels.compiled.library import available
from anaphora.kernels.parts import Project, Unit
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
assert Path(anaphora.__file__).is_relative_to(sys.argv[1]), anaphora.__file__
program = Program((Project("in", "x", "a", False), Unit("unit", Lstm(), ("a",))), ("unit.h",))
zero, weights = torch.zeros(1, 16), {"in.weight": torch.ones(64, 3), "unit.h": torch.ones(64, 16)}
with patch.object(native, "forward", wraps=native.forward) as in_c:
    scan(program, {"x": torch.ones(2, 1, 3)}, {"unit.h": zero, "unit.c": zero}, weights, {}, torch.tensor([2]))
print(available() and in_c.called)
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what is built, with its library where there is one."""
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


def run(*arguments: str | Path, package: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, which finds the package in a folder."""
    command = [sys.executable, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(package), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, cwd=cwd, check=False)


EDITS: dict[str, Callable[[Path], object]] = {
    "change": lambda source: source.write_bytes(source.read_bytes() + b"\n"),
    "rename": lambda source: source.rename(source.with_stem("other")),
    "add": lambda source: source.with_stem("another").touch(),
    "remove": Path.unlink,
    "date": lambda source: os.utime(source, (2e9, 2e9)),
}


@pytest.mark.parametrize("name", ["loop.c", "loop.h"])
@pytest.mark.parametrize("edit", ["change", "rename", "add", "remove"])
def test_sources_have_another_digest_after_any_change_but_of_their_times(tmp_path: Path, name: str, edit: str) -> None:
    for source in ("beam.h", "loop.c", "loop.h", "units.c"):
        (tmp_path / source).write_text(f"/* {source} */")
    before = digest(tmp_path)
    EDITS["date"](tmp_path / name)
    assert digest(tmp_path) == before
    EDITS[edit](tmp_path / name)
    assert digest(tmp_path) != before


@NEEDS_COMPILER
@pytest.mark.slow
@pytest.mark.parametrize(("edit", "used"), [("date", True), ("change", False)])
def test_a_checkout_uses_its_library_until_a_source_has_another_content(checkout: Path, edit: str, used: bool) -> None:
    EDITS[edit](checkout / SOURCES / "loop.h")
    for library in (checkout / SOURCES).glob("_library*"):
        os.utime(library, (1e9, 1e9) if used else (3e9, 3e9))
    done = run("-W", "always", "-c", AVAILABLE, package=checkout / "src", cwd=checkout)
    assert done.stdout == f"{used}\n"
    assert ("RuntimeWarning: The kernels in C are not used" in done.stderr) is not used


@NEEDS_COMPILER
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_installed_checkout_runs_its_kernels_and_warns_of_nothing(checkout: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", minversion="77")
    pytest.importorskip("pip")
    stale = checkout / f"build/lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}" / Path(*SOURCES.parts[1:])
    stale.mkdir(parents=True)
    for name in ("stale.c", "_library.cpython-310-x86_64-linux-gnu.so"):
        (stale / name).touch()  # an earlier version's build has left files that are gone
    for library in (checkout / SOURCES).glob("_library*"):
        library.unlink()
    target = tmp_path / "installed"
    command = ("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--target", target, checkout)
    done = run(*command, package=target, cwd=tmp_path)
    assert not done.returncode, done.stdout + done.stderr
    done = run("-W", "error", "-c", SCAN, target, package=target, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")
    assert [file.name for file in (target / Path(*SOURCES.parts[1:])).glob("*.[chs]*")] == ["_library.so"]


@NEEDS_COMPILER
def test_with_a_compiler_the_library_is_there() -> None:
    assert available()


@NEEDS_COMPILER
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_compiler_without_openmp_builds_the_library_for_one_thread(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    compiler = tmp_path / "cc"
    compiler.write_text(WITHOUT_OPENMP.format(compiler=COMPILER))
    compiler.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--build-lib", str(tmp_path), "--build-temp", str(tmp_path / "made")],
        env=os.environ | {"CC": str(compiler)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert "for one thread" in done.stdout + done.stderr
    [library] = tmp_path.rglob("_library*.so")
    assert b"GOMP" not in library.read_bytes()
    assert is_built_of(CDLL(str(library)), digest(SOURCES))
    if has_gemm():
        assert CDLL(str(library)).gemm_supports(0)
