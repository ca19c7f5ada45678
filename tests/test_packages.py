"""The packages of a release: what they contain, and that they work away from the checkout, on any Python.

``make packages`` builds them into ``PACKAGES`` and tries them with all ``PYTHONS``; the slow tier builds them itself,
and tries one Python.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

import anaphora
from anaphora.cli.app import main
from anaphora.kernels.compiled.gemm import has_gemm
from tests.package import PACKAGE, ROOT

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = os.environ.get("PYTHONS", "").split() or [sys.executable]
RUN = ROOT / "tests" / "runs" / "format-2"
TEXT = "adf\nbeg\ncdh\n"
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from anaphora.cli.app import main
sys.exit(main(sys.argv[1:]))
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command that finds neither the checkout, nor a compiler, nor a home that it can write to."""
    environment = {"PATH": "/usr/bin:/bin", "CC": "false", "HOME": "/proc", "LANG": "C.UTF-8"} | environment
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
    everything = kept | environment
    return subprocess.run(list(map(str, command)), env=everything, cwd=cwd, capture_output=True, text=True, check=False)


def build(folder: Path, *options: str, **environment: str) -> Path:
    """Build packages from a copy of the checkout without what git ignores, and return their folder."""
    pytest.importorskip("build")
    copy, packages = folder / "checkout", folder / "dist"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so"))
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    command = (sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", packages, ".")
    done = run(*command, cwd=copy, **environment)
    assert not done.returncode, done.stdout + done.stderr
    return packages


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist, and the wheel that was built from it."""
    if built := os.environ.get("PACKAGES"):
        return Path(built).resolve()
    if not (compiler := shutil.which(os.environ.get("CC", "cc"))):
        pytest.skip("there is no C compiler")
    return build(tmp_path_factory.mktemp("packages"), CC=compiler)


@pytest.fixture(scope="module")
def wheel(packages: Path) -> Path:
    [wheel] = packages.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``model.anaphora``, ``new.txt``, and ``expected.txt``, its translation by this Python."""
    if not has_gemm():
        pytest.skip("needs the library in C")
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "new.txt").write_text(TEXT)
    model = str(folder / "model.anaphora")
    assert main(["export", str(RUN), "--to", "bundle", "--precision", "int8", "--output", model]) == 0
    assert main(["translate", model, str(folder / "new.txt"), "--output", str(folder / "expected.txt")]) == 0
    return folder


def test_packages_have_every_file_of_the_package_and_no_other(packages: Path, wheel: Path) -> None:
    files = set(PACKAGE.rglob("*.py"))
    for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        found = {path for pattern in patterns for path in PACKAGE.parent.joinpath(*package.split(".")).glob(pattern)}
        assert found, package
        files |= found
    unread = {".c", ".h", ".pyc", ".so", ".wat"}  # sources of what is built
    assert {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in unread} == files
    expected = {str(path.relative_to(PACKAGE.parent)) for path in files} | {"anaphora/kernels/compiled/_library.so"}
    inside = {name for name in ZipFile(wheel).namelist() if not name.endswith("/") and ".dist-info/" not in name}
    assert inside == expected
    [sdist] = packages.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/src/")[2] for name in archive.getnames()}
    sources = {f"anaphora/kernels/compiled/{path.name}" for path in (PACKAGE / "kernels/compiled").glob("*.[ch]")}
    assert (expected | sources) - names == {"anaphora/kernels/compiled/_library.so"}


def test_a_wheel_is_for_any_python_of_one_platform(wheel: Path) -> None:
    assert re.fullmatch(rf"anaphora-{anaphora.__version__}-py3-none-(?!any).*\.whl", wheel.name)


@pytest.mark.parametrize(("python", "bounds"), [*((python, "newest") for python in PYTHONS), (PYTHONS[0], "lowest")])
def test_a_wheel_translates_as_this_checkout_without_torch(
    python: str, bounds: str, wheel: Path, bundle: Path, tmp_path: Path
) -> None:
    asked = [shutil.which(python) or "false", "-c", "import sys; print(sys.executable)"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(f"{python} is not on this machine")
    lowest = tmp_path / "lowest.txt"
    lines = PROJECT["project"]["dependencies"] if bounds == "lowest" else []
    lowest.write_text("".join(f"{line.replace('>=', '==')}\n" for line in lines))
    done = run(found.stdout.strip(), "-m", "venv", "new", cwd=tmp_path)
    assert not done.returncode, done.stderr
    pip = (tmp_path / "new/bin/pip", "install", "--quiet", "--only-binary", ":all:", "--retries", "1")
    done = run(*pip, "--constraint", lowest, wheel, cwd=tmp_path)
    if re.search("Failed to (establish a new connection|resolve)", done.stderr):
        pytest.skip("the package index cannot be reached")
    assert not done.returncode, done.stderr
    command = tmp_path / "new/bin/anaphora"
    assert run(command, "--version", cwd=tmp_path).stdout == f"anaphora {anaphora.__version__}\n"
    assert run(tmp_path / "new/bin/python", "-c", "import torch", cwd=tmp_path).returncode
    done = run(command, "translate", bundle / "model.anaphora", bundle / "new.txt", cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ((bundle / "expected.txt").read_text(), "", 0)


def test_a_wheel_without_the_library_needs_torch_and_says_so(bundle: Path, tmp_path: Path) -> None:
    [wheel] = build(tmp_path, "--wheel").glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    ZipFile(wheel).extractall(tmp_path / "installed")
    outputs = {}
    for model in (RUN, bundle / "model.anaphora"):
        program = (sys.executable, "-c", WITHOUT_TORCH, "translate", model, bundle / "new.txt")
        done = run(*program, cwd=tmp_path, PYTHONPATH=str(tmp_path / "installed"))
        outputs[model.name] = (done.returncode, done.stdout, done.stderr.count("\n"))
        assert "The library in C" in done.stderr.replace("the library", "The library")
        assert "was not built when anaphora was installed: install a C compiler, then anaphora again" in done.stderr
    assert set(outputs.values()) == {(2, "", 1)}
    program = (sys.executable, "-m", "anaphora", "translate", RUN, bundle / "new.txt")
    done = run(*program, cwd=tmp_path, PYTHONPATH=str(tmp_path / "installed"))
    assert (done.returncode, done.stdout.count("\n")) == (0, TEXT.count("\n")), done.stderr
