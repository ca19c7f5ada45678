"""What it costs to translate a long text by workers instead of in one process.

    python -m benchmarks.bulk copy TEXT 1000000 10000000
    python -m benchmarks.bulk translate RUN TEXT

Prints seconds of processor time, since on a machine that does other work those of the clock say little. To copy, so
many lines are taken from TEXT, again and again, and copied: by reading and writing them, and by two workers whose
translator returns lines as they are. What the workers take more is what they add to a translation, with starting them
but without loading a model. To translate, the command line translates one line and all lines of TEXT, with one thread,
greedily, without workers, with one and with two; what one line takes is starting.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from filecmp import cmp as files_equal
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path

from anaphora.bulk.folder import Identity
from anaphora.bulk.shard import LINES
from anaphora.bulk.translation import translate_with
from anaphora.bulk.worker import Refuse, Translate
from anaphora.formats.lines import read_lines, write_lines


def _same(lines: Sequence[str], first: int, refuse: Refuse) -> list[str]:
    return list(lines)


def load() -> Translate:
    """A translator that returns lines as they are."""
    return _same


def copy(text: Path, count: int, folder: Path) -> None:
    """Copy so many lines without and with workers."""
    long = folder / "long"
    lines = list(read_lines(text))
    write_lines(long, islice(chain.from_iterable(repeat(lines)), count))
    plain, bulk = folder / "plain", folder / "bulk"
    identity = Identity("none", "none", LINES)
    alone = _seconds(lambda: write_lines(plain, read_lines(long)))
    together = _seconds(lambda: translate_with(load, read_lines(long), bulk, identity, 2))
    assert files_equal(plain, bulk, shallow=False)
    print(f"{count:,} lines copied: {alone:.2f} s, by 2 workers {together:.2f} s: {together - alone:.2f} s more")


def _translated(run: Path, text: Path, folder: Path) -> Iterator[tuple[int, float]]:
    """Workers, and processor seconds of the command line."""
    outputs = []
    for workers in (0, 1, 2):
        output = folder / f"{text.name}-{workers}"
        command = ["translate", str(run), str(text), "--output", str(output), "--beam", "1", "--threads", "1"]
        asked = [sys.executable, "-m", "anaphora", *command, *(["--workers", str(workers)] if workers else [])]
        yield workers, _seconds(partial(subprocess.run, asked, check=True, stderr=subprocess.DEVNULL))
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]


def _seconds(work: Callable[[], object]) -> float:
    """Processor seconds of this process and of those that it starts and awaits."""
    before = _now()
    work()
    return _now() - before


def _now() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def translate(run: Path, text: Path, folder: Path) -> None:
    """Translate one line and all, without and with workers."""
    one = folder / "one"
    write_lines(one, islice(read_lines(text), 1))
    start = dict(_translated(run, one, folder))
    print("one line:", *(f"{workers} workers {seconds:.2f} s;" for workers, seconds in start.items()), flush=True)
    for workers, seconds in _translated(run, text, folder):
        beyond = seconds - start[workers]
        print(f"all lines, {workers} workers: {seconds:.2f} s, {beyond:.2f} s beyond starting", flush=True)


def main(what: str, first: str, *rest: str) -> None:
    """Print what is measured."""
    with tempfile.TemporaryDirectory() as place:
        if what == "translate":
            translate(Path(first), Path(rest[0]), Path(place))
        for count in rest if what == "copy" else ():
            copy(Path(first), int(count), Path(place))


if __name__ == "__main__":
    main(*sys.argv[1:])
