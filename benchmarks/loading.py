"""What a translator without torch takes: ``python -m benchmarks.loading RUN.. --text FILE``.

Exports runs of different languages as bundles in int8 and prints a table: a process up to its first answer and its peak
memory, with the first run in fp32 and as a bundle; a line in a loaded process; a server of the first and one of all
bundles, and requests one at a time.
Seconds are of the processor, which other work on the machine changes less than the clock, and the least of several
tries. Beside it stands CTranslate2, where it is installed (``peers/ctranslate2_serve.py`` has the model). Linux only.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import anaphora
from anaphora.formats.lines import read_lines
from anaphora.tasks.runs import export_bundle
from benchmarks.machine import this_machine
from benchmarks.serving import Load, serving

ROUNDS = 5
_LINES = 100
_MEASURED = """
import os, sys

process = os.posix_spawn(sys.executable, [sys.executable, "-m", "anaphora", "translate", sys.argv[1]], os.environ)
_, status, used = os.wait4(process, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""From a small process, since the peak of one counts the memory that it was forked with."""


def first_answer(model: Path, line: str) -> tuple[float, float]:
    """Processor seconds and peak megabytes of a process that translates one line."""
    found = []
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", _MEASURED, str(model)]
        ended = subprocess.run(command, input=line + "\n", capture_output=True, text=True, check=True)
        seconds, kibibytes = map(float, ended.stderr.split()[-2:])
        found.append((seconds, kibibytes * 1024 / 1e6))
    return min(seconds for seconds, _ in found), min(megabytes for _, megabytes in found)


def per_line(model: Path, line: str, beam: int) -> float:
    """Processor milliseconds of one line in a process that has the model."""
    translator, found = anaphora.load(model), []
    for _ in range(_LINES):
        begin = time.process_time()
        translator.translate([line], beam=beam)
        found.append(time.process_time() - begin)
    return 1000 * min(found)


def served(command: Sequence[str], lines: Sequence[str]) -> tuple[float, float, float]:
    """Requests of one client in a second of processor time, those in a second of the clock, and megabytes."""
    with serving(command) as server:
        load = Load(server, lines)
        load.run(1, 2)
        found = [load.run(1, 3) for _ in range(ROUNDS)]
    rates = [(len(one.waits) / one.processor_seconds, len(one.waits) / one.seconds, one.megabytes) for one in found]
    return max(rates)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loading", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--text", type=Path, required=True, help="lines to translate")
    given = parser.parse_args()
    lines = [line for line in read_lines(given.text) if line.strip()]
    line = next(one for one in lines if len(one.split()) == 12)
    print(f"{this_machine()}; {os.getloadavg()[0]:.1f} processes wait for it\n\n| | anaphora |\n| --- | --: |")
    with TemporaryDirectory(prefix="anaphora-loading-") as folder:
        bundles = [Path(folder) / f"{number}.anaphora" for number in range(len(given.runs))]
        for run, bundle in zip(given.runs, bundles, strict=True):
            export_bundle(run, bundle, "int8")
        bundle = bundles[0]
        for name, model in (("run in fp32", given.runs[0]), ("bundle in int8", bundle)):
            seconds, megabytes = first_answer(model, line)
            print(f"| {name}: process to first answer; peak | {seconds:.2f} s; {megabytes:.0f} MB |")
        for name, beam in (("greedy", 1), ("beam of 5", 5)):
            print(f"| a 12-word line in int8, {name} | {per_line(bundle, line, beam):.2f} ms |")
        for models in (bundles[:1], bundles) if len(bundles) > 1 else (bundles,):
            command = [sys.executable, "-m", "anaphora", "serve", *map(str, models), "--port", "0", "--quiet"]
            by_processor, by_clock, megabytes = served(command, lines)
            rates = f"{by_processor:.1f}/s of processor time, {by_clock:.1f}/s"
            print(f"| server of {len(models)}; requests one at a time | {megabytes:.0f} MB; {rates} |")
        print(f"| bundle in int8 | {bundle.stat().st_size / 1e6:.1f} MB |")
    if find_spec("ctranslate2"):
        by_processor, by_clock, megabytes = served([sys.executable, "benchmarks/peers/ctranslate2_serve.py"], lines)
        print(f"| CTranslate2 | {megabytes:.0f} MB; {by_processor:.1f}/s of processor time, {by_clock:.1f}/s |")
    else:
        print("\nCTranslate2 is not installed here.")


if __name__ == "__main__":
    main()
