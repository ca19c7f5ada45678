"""``python -m tests.faults``: random trials of all campaigns for MINUTES (5) from SEED (random), or one TRIAL again."""

import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import walk_packages
from random import Random
from typing import TextIO

import torch

import anaphora
from tests.faults import doors, folders, inputs, kills, readers, rows, server
from tests.faults.processes import Fault

Trial = Callable[[Random], str]
"""Tries something at random and returns what, in a word or two; raises Fault where what must never happen did."""

CAMPAIGNS: dict[str, Trial] = {
    "kills": kills.trial,
    "folders": folders.trial,
    "inputs": inputs.trial,
    "readers": readers.trial,
    "server": server.trial,
    "doors": doors.trial,
    "rows": rows.trial,
}


def run(minutes: float, seed: str, to: TextIO, campaigns: Mapping[str, Trial] = CAMPAIGNS) -> int:
    """Try in turn, and print a table and what repeats a fault; returns the number of faults. See ``import_all``."""
    tried, faults, seconds = Counter[str](), list[str](), Counter[str]()
    kinds: dict[str, Counter[str]] = {name: Counter() for name in campaigns}
    deadline = time.monotonic() + 60 * minutes
    while time.monotonic() < deadline:
        name = min(campaigns, key=lambda one: seconds[one])
        began = time.monotonic()
        trial = f"{name}:{seed}:{tried[name]}"
        tried[name] += 1
        try:
            kinds[name][repeat(trial, campaigns)] += 1
        except Fault as fault:
            faults.append(trial)
            print(f"\nTRIAL={trial}\n{fault}\n", file=to, flush=True)
        seconds[name] += time.monotonic() - began
    print(f"{'campaign':10}{'trials':>8}{'faults':>8}{'seconds':>9}  tried", file=to)
    for name in campaigns:
        wrong = sum(trial.startswith(f"{name}:") for trial in faults)
        what = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds[name].items()))
        print(f"{name:10}{tried[name]:>8}{wrong:>8}{seconds[name]:>9.0f}  {what}", file=to)
    print(f"SEED={seed}; repeat one trial with  make faults TRIAL=CAMPAIGN:SEED:NUMBER", file=to)
    return len(faults)


def repeat(trial: str, campaigns: Mapping[str, Trial] = CAMPAIGNS) -> str:
    return campaigns[trial.split(":")[0]](Random(trial))


def import_all() -> None:
    """Import what commands import as they run, so that each process forked from this one has it already."""
    torch.set_num_threads(1)
    import_module("torch._dynamo")
    for module in walk_packages(anaphora.__path__, "anaphora."):
        if not module.name.endswith(("__main__", "._library")):  # which is no module of Python
            import_module(module.name)
    sys.stdout.flush()


def main() -> int:
    import_all()
    if trial := os.environ.get("TRIAL"):
        try:
            print(repeat(trial))
        except Fault as fault:
            print(fault)
            return 1
        return 0
    seed = os.environ.get("SEED") or uuid.uuid4().hex[:8]
    return int(run(float(os.environ.get("MINUTES") or 5), seed, sys.stdout) > 0)


if __name__ == "__main__":
    sys.exit(main())
