"""``python -m benchmarks.reproduce``: train what the tables lack, and write them."""

import argparse
import sys
from pathlib import Path

from anaphora.cli.progress import listening
from anaphora.cli.signals import handling_signals
from anaphora.errors import AnaphoraError
from benchmarks.machine import this_machine
from benchmarks.reproduce import table as tables
from benchmarks.reproduce.page import page
from benchmarks.reproduce.queue import RESULTS, left, results_of, work_off


def main() -> int:
    """Work off the tables that the command line names; 2 for what a person can put right."""
    options = _options()
    try:
        for name in options.tables or tables.names():
            table = tables.read(name)
            if not options.pages:
                with listening() as report, handling_signals() as signals:
                    work_off(name, table, str(this_machine()), _say, report, stop=signals.stop, keep=options.keep)
            results = results_of(RESULTS / f"{name}.jsonl")
            wanted = [results[job.key] for job in tables.jobs(table) if job.key in results]
            missing, path = len(left(table, results)), RESULTS / f"{name}.md"
            if wanted:
                path.write_text(page(name, table, wanted), encoding="utf-8")
            _say(f"{_near(path)}: {len(wanted)} results" + (f", {missing} still missing" if missing else ""))
            if missing and not options.pages:
                return 130
    except AnaphoraError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=__doc__)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help=f"all without; there are {', '.join(tables.names())}"
    )
    parser.add_argument("--pages", action="store_true", help="only write the tables of the results that there are")
    parser.add_argument("--keep", action="store_true", help="keep the runs, in runs/reproduce, to look at")
    return parser.parse_args()


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
