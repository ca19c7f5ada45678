"""An ARPA file loaded, and text scored by its model, on one thread.

    python -m benchmarks.arpa FILE TEXT

Prints seconds of processor time, since on a machine that does other work those of the clock say little, and the peak
memory of the process, which is measured before any text is scored.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from anaphora.formats.lines import read_lines
from anaphora.tasks.runs import load
from benchmarks.work import peak_mib

ROUNDS = 5


def best(work: Callable[[], object]) -> float:
    """The fewest processor seconds of several rounds."""
    seconds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def main(file: Path, text: Path) -> None:
    """Print what is measured."""
    torch.set_num_threads(1)
    before, begin = peak_mib(), time.process_time()
    model = load(file)
    seconds = time.process_time() - begin
    print(
        f"{file.stat().st_size / 1e6:,.0f} MB loaded in {seconds:.1f} s; peak memory {peak_mib():,.0f} MiB, "
        f"{before:,.0f} MiB before",
        flush=True,
    )
    lines = list(read_lines(text))
    words = sum(score.tokens for score in model.score_lines(lines))
    print(f"score: {words / best(lambda: model.score_lines(lines)):,.0f} words a second", flush=True)
    print(f"evaluate: {words / best(lambda: model.evaluate(lines)):,.0f} words a second")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
