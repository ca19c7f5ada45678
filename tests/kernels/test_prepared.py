"""What is kept of weights for products without a gradient."""

import sys
from typing import Any

import pytest
import torch
from torch.nn import Parameter

from anaphora.kernels import prepared


def test_a_weight_may_outlive_the_names_of_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    weight = Parameter(torch.ones(2, 2))
    assert prepared.keep(weight, "name", 0, lambda: "made") == "made"
    monkeypatch.setattr(prepared, "_kept", None)  # as at the end of a process
    del weight
    assert not unraisable
