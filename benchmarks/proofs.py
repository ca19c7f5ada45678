"""The kernels' proofs, run before any figure: what is not right is not fast."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from anaphora.errors import AnaphoraError

ROOT = Path(__file__).resolve().parents[1]

PROOFS: Mapping[str, tuple[str, ...]] = {"quick": ("tests/kernels", "-m", "not slow"), "full": ("tests/kernels",)}
"""What pytest is given: the unmarked tests of the kernels (half a minute), or all of them (minutes)."""


class UnprovenError(AnaphoraError):
    """The kernels' tests do not pass."""


def prove(name: str) -> str:
    """pytest's last line; UnprovenError when a test fails."""
    command = [sys.executable, "-m", "pytest", "-q", *PROOFS[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.splitlines() or [done.stderr]
    if done.returncode:
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        raise UnprovenError(
            f"The kernels should be proven before they are timed, but  pytest {' '.join(PROOFS[name])}  ends with: "
            f"{'; '.join([*failed, lines[-1].strip()])}. Put that right first."
        )
    return lines[-1].strip()
