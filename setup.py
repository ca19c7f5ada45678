"""Builds the library in C (see pyproject.toml), for one thread where the compiler has no OpenMP (as Apple's)."""

from pathlib import Path
from runpy import run_path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

OPENMP = "-fopenmp"
SOURCES = Path("src/anaphora/kernels/compiled")


class BuildLibrary(build_ext):
    """Builds the digest of the sources into the library, which is compared with them when it is loaded.

    Builds once more without OpenMP where it cannot be built with it, and says so.
    """

    def get_ext_filename(self, fullname: str) -> str:
        """Return a name for any Python, since ctypes loads the library."""
        return f"{fullname.replace('.', '/')}.so"

    def build_extension(self, ext: Extension) -> None:
        self.force = True  # times of files say nothing
        ext.define_macros.append(("SOURCES_DIGEST", str(run_path(str(SOURCES / "sources.py"))["digest"](SOURCES))))
        beside = Path(self.get_ext_fullpath(ext.name)).parent
        if beside.resolve() != SOURCES.resolve():  # a wheel has neither sources nor what an earlier build has left
            for stale in (*beside.glob("*.[ch]"), *beside.glob("_library*")):
                stale.unlink()
        try:
            super().build_extension(ext)
        except (CompileError, LinkError) as error:
            self.warn(f"building {ext.name} for one thread: it cannot be built with OpenMP ({error})")
            ext.extra_compile_args = [flag for flag in ext.extra_compile_args if flag != OPENMP]
            ext.extra_link_args = [flag for flag in ext.extra_link_args if flag != OPENMP]
            super().build_extension(ext)


class BuildWheel(bdist_wheel):
    """Tags the wheel for any Python 3 of a platform, or for any platform where the library could not be built."""

    def get_tag(self) -> tuple[str, str, str]:
        built = any(Path(self.bdist_dir).rglob("_library.so"))
        return "py3", "none", super().get_tag()[2] if built else "any"


setup(cmdclass={"build_ext": BuildLibrary, "bdist_wheel": BuildWheel})
