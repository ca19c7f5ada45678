"""Nothing is timed that is not proven."""

import pytest

from benchmarks import proofs


def test_a_proof_that_fails_stops_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "PROOFS", {"none": ("tests/kernels/no_such_test.py",)})
    with pytest.raises(proofs.UnprovenError, match="should be proven before they are timed"):
        proofs.prove("none")
