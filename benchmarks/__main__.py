"""``python -m benchmarks``: proofs first, then every work on both sides, then a dated report."""

import argparse
import os
import shlex
import sys
import time
from dataclasses import replace

from anaphora.errors import AnaphoraError
from benchmarks import joeynmt, records, report, time_to_bleu
from benchmarks.breakdown import breakdown
from benchmarks.compare import compare, in_its_own_process
from benchmarks.machine import this_machine
from benchmarks.proofs import PROOFS, prove
from benchmarks.work import Precision, Setting
from benchmarks.works import WORKS

_PROFILE = "profile"
_TRAINING: tuple[Precision, ...] = ("fp32", "bf16")
"""The precisions of training."""


def main() -> int:
    """Measure what the command line names; 2 for what a person can put right, 1 where a bar is missed."""
    options = _options()
    setting = Setting(options.threads, options.seed, options.quick)
    try:
        return _measure(options, setting)
    except AnaphoraError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def _measure(options: argparse.Namespace, setting: Setting) -> int:
    began, machine = time.monotonic(), this_machine()
    works = [work for work in WORKS if work.name in options.works]
    _say(f"{machine}; {setting.threads} threads, seed {setting.seed}.")
    if machine.busy:
        _say(f"Other work runs on this machine (load {machine.load:.1f}): no figure of this run will count.")
    if time_to_bleu.NAME in options.works or any("JoeyNMT" in work.peer for work in works):
        joeynmt.check_installed()
    command = f'make bench BENCH="{shlex.join(sys.argv[1:])}"' if sys.argv[1:] else "make bench"
    if time_to_bleu.NAME in options.works:
        curves = time_to_bleu.measure(setting, 1 if setting.quick else options.minutes, _say)
        if not setting.quick:
            _say(f"{time_to_bleu.write(machine, setting, curves, command)}")
        if options.works == [time_to_bleu.NAME]:
            return 0
    for work in works:
        work.prepare()
    proven = prove(options.proofs)
    _say(f"Kernels: {proven}")
    rounds = 1 if setting.quick else options.rounds
    comparisons = [one for work in works for one in compare(work, setting, rounds, _say)]
    parts: dict[Precision, dict[str, float]] = {}
    for precision in _TRAINING if _PROFILE in options.works else ():
        parts[precision] = in_its_own_process(breakdown, replace(setting, precision=precision))
        for part, seconds in parts[precision].items():
            _say(f"{precision} {part}: {1000 * seconds:,.1f} ms")
    if not setting.quick:
        path = report.write(machine, setting, proven, comparisons, parts, command, change=options.change)
        records.write()
        _say(f"{path} after {(time.monotonic() - began) / 60:.1f} minutes.")
    return 0 if setting.quick or all(comparison.reached for comparison in comparisons) else 1


def _options() -> argparse.Namespace:
    usual = [*(work.name for work in WORKS), _PROFILE]
    known = [*usual, time_to_bleu.NAME]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "works", nargs="*", metavar="WORK", help=f"what to measure, all but the last without: {', '.join(known)}"
    )
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side (default 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of both sides")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--minutes", type=float, default=240, help=f"processor minutes of a training of {time_to_bleu.NAME}"
    )
    parser.add_argument("--proofs", choices=list(PROOFS), default="quick", help="which kernel tests go first")
    parser.add_argument("--change", default="", help="what changed since the last report, for records.md")
    parser.add_argument("--quick", action="store_true", help="only try whether everything runs: no figures, no report")
    options = parser.parse_args()
    options.works = options.works or usual
    for name in options.works:
        if name not in known:
            parser.error(f"'{name}' is no work; there are {', '.join(known)}")
    return options


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
