"""What training on several ranks gives and costs: run it alone, then under torchrun.

    python -m benchmarks.ranks
    torchrun --nproc-per-node 2 -m benchmarks.ranks

Each rank has one thread, and batches of 4,000 target tokens; the translator is the one of ``SETTINGS``. Rank 0 prints
target tokens a second by the clock and by its own processor time, and the share of its time that it spent in exchanges.
On a machine that does other work, the processor time alone says something.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anaphora.batch import Batch, Ids
from anaphora.data.columns import Floats
from anaphora.events import Event, Update
from anaphora.protocols import VocabularyInfo
from anaphora.run import Run
from anaphora.run.folder import RunReplica
from anaphora.training.loop import train
from anaphora.training.ranks import Ranks, join_ranks
from benchmarks.ours import build
from benchmarks.work import Setting

WORDS, ROWS, STEPS, WARM_UP, UPDATES = 8000, 160, 25, 3, 10
SETTINGS = """
task = "translate"
[embedding]
size = 256
[encoder]
cell = "lstm"
size = 512
[decoder]
cell = "lstm"
size = 512
"""


class Pairs:
    """Batches of made-up pairs, all of one length."""

    def epoch(self, number: int) -> Sequence[Batch]:
        return [_batch(place) for place in range(4 * (WARM_UP + UPDATES))]


def _batch(number: int) -> Batch:
    ids_BT = torch.randint(4, WORDS, (ROWS, STEPS), generator=torch.Generator().manual_seed(number)).numpy()
    side = Ids(ids_BT, np.full(ROWS, STEPS))
    return Batch.of_rows(range(ROWS), side, side)


class Clock:
    """Tokens, seconds by the clock and seconds of the processor since the updates that warm up, exchanges apart."""

    def __init__(self, ranks: Ranks) -> None:
        """Count the time of the exchanges of ``ranks`` apart."""
        self.tokens, self.spent, self.exchanging = 0, np.zeros(2), np.zeros(2)
        self._last = _now()
        if ranks.size > 1:
            for name in ("gathered", "add_gradients"):
                setattr(ranks, name, partial(self._exchange, getattr(ranks, name)))

    def see(self, event: Event) -> None:
        """Take note of an update."""
        if not isinstance(event, Update):
            return
        now = _now()
        self.tokens, self.spent, self._last = self.tokens + event.tokens, self.spent + now - self._last, now
        if event.update == WARM_UP:
            self.tokens, self.spent, self.exchanging = 0, np.zeros(2), np.zeros(2)

    def _exchange(self, exchange: Callable[[Any], Any], value: Any) -> Any:
        before = _now()
        result = exchange(value)
        self.exchanging += _now() - before
        return result


def _now() -> Floats:
    return np.array([time.perf_counter(), time.process_time()])


def main() -> None:
    """Train, and print what it took."""
    torch.set_num_threads(1)
    vocabulary = VocabularyInfo(WORDS, 0, 1, 2, 3)
    model, experiment = build(SETTINGS, {"source": vocabulary, "target": vocabulary}, Setting(threads=1, seed=1))
    with join_ranks() as ranks, tempfile.TemporaryDirectory() as folder:
        clock, training = Clock(ranks), experiment.training.with_options({"micro_batches": ranks.size})
        path = Path(ranks.broadcast(lambda: folder)) / "run"
        run = ranks.run_on_first(lambda: Run.create(path, experiment.tables(), {})) or RunReplica.open(path)
        ended = chain(repeat(False, WARM_UP + UPDATES), repeat(True)).__next__
        train(model, Pairs(), training, run, lambda model: {"loss": 0.0}, clock.see, ended, ranks=ranks)
        if ranks.first:
            for name, spent, exchanging in zip(("clock", "processor"), clock.spent, clock.exchanging, strict=True):
                print(
                    f"{ranks.size} ranks, {sum(weight.numel() for weight in model.parameters()):,} parameters, by the "
                    f"{name}: {clock.tokens / spent:,.0f} tokens a second, {exchanging / spent:.1%} in exchanges"
                )


if __name__ == "__main__":
    main()
