"""How the library in C is built: wherever there is a compiler, with OpenMP or without."""

import os
import shutil
import subprocess
import sys
from ctypes import CDLL
from pathlib import Path

import pytest

from anaphora.kernels import compiled

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


@NEEDS_COMPILER
def test_with_a_compiler_the_library_is_there() -> None:
    assert compiled.available()


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
    if compiled.has_gemm():
        assert CDLL(str(library)).gemm_supports(0)
