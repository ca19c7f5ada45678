import subprocess
import sys

import pytest

import anaphora

HEAVY = ("torch", "numpy", "sentencepiece", "sacrebleu", "sacremoses", "matplotlib", "rich", "pydantic")


def loaded_after(code: str) -> list[str]:
    script = f"import sys\n{code}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert loaded_after("import anaphora") == []


def test_every_public_name_is_there() -> None:
    for name in anaphora.__all__:
        assert getattr(anaphora, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        _ = anaphora.lod  # type: ignore[attr-defined]
