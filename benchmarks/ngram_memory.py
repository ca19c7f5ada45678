"""Memory, time and disk of counting n-grams of a generated text: ``python -m benchmarks.ngram_memory 50 100``.

Each number is a size in MB of text, at 4.5 bytes a token. Tokens are drawn by Zipf's law over 32,000, a line end in 14;
stretches of 12 are repeated, as they are in natural text. Memory is what cannot be dropped (RssAnon), with Python and
PyTorch; 2 GiB of it are allowed (RLIMIT_DATA). Each size is counted in a process of its own.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from anaphora.models.ngram.model import NgramModel, NgramModelConfig
from anaphora.protocols import VocabularyInfo
from benchmarks.watch import Watch, alone

SIZE, END, REPEATED = 32_000, 3, 12
BYTES_A_TOKEN = 4.5
LIMIT = 2 << 30


def text(tokens: int) -> np.ndarray:
    """The ids of a generated text."""
    random = np.random.default_rng(0)
    ids = np.empty(tokens + 1, np.uint16)
    ids[0] = END
    for begin in range(1, tokens + 1, 1 << 18):
        part = ids[begin : begin + (1 << 18)]
        ends = random.random(len(part)) < 1 / 14
        part[:] = np.where(ends, END, np.minimum(random.zipf(1.15, len(part)) + END, SIZE - 1))
    room = tokens - 20
    sources = random.zipf(1.2, tokens // 40) % room * 7 % room
    places = random.integers(0, room, tokens // 40)
    for place in range(REPEATED):
        ids[places + place] = ids[sources + place]
    return ids


def measure(megabytes: float) -> None:
    """Count one text and print a row of a table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids"
        text(int(megabytes * 1e6 / BYTES_A_TOKEN)).tofile(path)
        ids = np.memmap(path, np.uint16, "r")
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
        model = NgramModel(NgramModelConfig(), VocabularyInfo(SIZE, 0, 1, 2, END))
        watch = Watch()
        watch.start()
        began = time.process_time()
        model.fit(ids, lambda order: None, folder=Path(folder))
        seconds = time.process_time() - began
        watch.done.set()
        watch.join()
    grams = sum(len(order.keys_N) for order in model.backoff.orders)
    print(
        f"| {megabytes:g} | {len(ids):,} | {grams:,} | {seconds:.1f} | {watch.memory:,} | {watch.disk:,} |", flush=True
    )


if __name__ == "__main__":
    print("| MB of text | tokens | n-grams | processor seconds | memory (MB) | temporary files (MB) |")
    print("| --: | --: | --: | --: | --: | --: |", flush=True)
    for size in sys.argv[1:]:
        alone(measure, float(size))
