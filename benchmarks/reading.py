"""Processor time and memory of reading a translation memory.

    python -m benchmarks.reading 100

Writes a TMX file of so many megabytes, two sentences of random words an entry, and reads it in a process of its own.
"""

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from anaphora.formats.entries.tmx import tmx_lines
from benchmarks.memory import WORDS

_READ = """
import resource, sys, time
from pathlib import Path
from anaphora.data.sources import translation_splits

splits = translation_splits([Path(sys.argv[1])], "en", "de")
count = splits.train.count + splits.valid.count
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{count:,} entries: {used.ru_utime + used.ru_stime:.1f} s of processor time, {used.ru_maxrss / 1e3:.0f} MB")
"""


def _pairs() -> Iterator[tuple[str, str]]:
    draw = random.Random(1)
    while True:
        one, other = (" ".join(draw.choices(WORDS, k=draw.randint(5, 25))) for _ in range(2))
        yield one, f"<{other}> & é."


def main(megabytes: str) -> None:
    """Print what is measured."""
    with tempfile.TemporaryDirectory() as folder:
        file, most = Path(folder, "memory.tmx"), int(megabytes) * 1_000_000
        with file.open("w", encoding="utf-8") as stream:
            pairs = iter(_pairs())
            limited = iter(lambda: None if stream.tell() >= most else next(pairs), None)
            stream.writelines(f"{line}\n" for line in tmx_lines(limited, ("en", "de")))
        print(f"{file.stat().st_size / 1e6:.0f} MB", flush=True)
        subprocess.run([sys.executable, "-c", _READ, str(file)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
