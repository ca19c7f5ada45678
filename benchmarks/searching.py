"""How fast a translator searches: by precision, with the whole vocabulary and with its shortlist.

    anaphora shortlist RUN
    python -m benchmarks.searching RUN SOURCES REFERENCES

One thread. Every way translates the same lines in turn; printed is the best of several rounds, in sentences per second
of processor time, which other work on the machine changes less than the clock; and BLEU, raw. Then one line of twelve
words alone, with the model loaded; then a new process that translates it: all of it, and its imports alone.
"""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch

import anaphora
from anaphora.evaluation.bleu import bleu
from anaphora.kernels.backends import InferencePrecision
from anaphora.prediction.candidates import Shortlist
from anaphora.tasks.translation.predictor import TranslationPredictor
from benchmarks.machine import this_machine

ROUNDS, REPEATS, STARTS = 2, 60, 3
PRECISIONS: tuple[InferencePrecision, ...] = ("fp32", "bf16", "int8")
ONE = "A man in a red shirt is walking along a busy street"


class Way(NamedTuple):
    """How lines are translated."""

    precision: InferencePrecision
    shortlist: Shortlist | None

    def __str__(self) -> str:
        return f"{self.precision}, shortlist {self.shortlist[0]} + {self.shortlist[1]}" if self.shortlist else self[0]


WAYS = (*(Way(one, None) for one in PRECISIONS), Way("fp32", Shortlist()), Way("int8", Shortlist()))


def of_text(
    translators: dict[InferencePrecision, TranslationPredictor], sources: Sequence[str], references: Path
) -> None:
    """Print speed and BLEU of greedy search and of a beam of 5."""
    expected = references.read_text(encoding="utf-8").splitlines()
    print("| | " + " | ".join(("greedy", "to fp32", "BLEU", "beam 5", "to fp32", "BLEU")) + " |\n" + "| --- " * 7 + "|")
    rows: dict[Way, list[str]] = {way: [] for way in WAYS}
    for beam in (1, 5):
        seconds, texts = dict.fromkeys(WAYS, float("inf")), dict[Way, list[str]]()
        for _, way in product(range(ROUNDS), WAYS):
            begin = time.process_time()
            found = translators[way.precision].translate(sources, beam=beam, candidates=way.shortlist)
            seconds[way] = min(seconds[way], time.process_time() - begin)
            texts[way] = [one.text for one in found]
        for way in WAYS:
            score = bleu(texts[way], expected, language=translators["fp32"].languages[1], condition="raw")
            ratio = seconds[WAYS[0]] / seconds[way]
            rows[way] += [f"{len(sources) / seconds[way]:,.0f}", f"{ratio:.2f}", f"{score.value:.2f}"]
    for way, cells in rows.items():
        print(f"| {way} | {' | '.join(cells)} |", flush=True)


def of_one(translators: dict[InferencePrecision, TranslationPredictor]) -> None:
    """Print what one line takes."""
    print(f"\nOne line of {len(ONE.split())} words, milliseconds of processor time, median (and 99th percentile):")
    for beam, way in product((1, 5), WAYS):
        taken = []
        for _ in range(REPEATS):
            begin = time.process_time()
            translators[way.precision].translate([ONE], beam=beam, candidates=way.shortlist)
            taken.append(1000 * (time.process_time() - begin))
        print(f"  beam {beam}, {way}: {statistics.median(taken):.1f} ({statistics.quantiles(taken, n=100)[-1]:.1f})")


def of_start(run: Path) -> None:
    """Print what a new process takes until its first answer, and what the imports are of it."""
    commands = {
        "translating one line": ["-m", "anaphora", "translate", str(run), "-", "--threads", "1", "--beam", "1"],
        "import torch": ["-c", "import torch"],
    }
    for name, command in commands.items():
        taken = []
        for _ in range(STARTS):
            before = _of_children()
            subprocess.run([sys.executable, *command], input=ONE, text=True, check=True, capture_output=True)
            taken.append(_of_children() - before)
        print(f"A new process, {name}: {min(taken):.2f} s of processor time")


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(run: Path, sources: Path, references: Path) -> None:
    """Print everything."""
    torch.set_num_threads(1)
    print(f"{this_machine()}; load {os.getloadavg()[0]:.0f}\n", flush=True)
    translators: dict[InferencePrecision, TranslationPredictor] = {
        precision: anaphora.load(run, precision=precision) for precision in PRECISIONS
    }
    of_text(translators, sources.read_text(encoding="utf-8").splitlines(), references)
    of_one(translators)
    of_start(run)
    print(f"load at the end {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
