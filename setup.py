"""Builds the library in C (see pyproject.toml), for one thread where the compiler has no OpenMP (as Apple's)."""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, LinkError

OPENMP = "-fopenmp"


class BuildLibrary(build_ext):
    """Builds once more without OpenMP where it cannot be built with it, and says so."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except (CompileError, LinkError) as error:
            self.warn(f"building {ext.name} for one thread: it cannot be built with OpenMP ({error})")
            ext.extra_compile_args = [flag for flag in ext.extra_compile_args if flag != OPENMP]
            ext.extra_link_args = [flag for flag in ext.extra_link_args if flag != OPENMP]
            super().build_extension(ext)


setup(cmdclass={"build_ext": BuildLibrary})
