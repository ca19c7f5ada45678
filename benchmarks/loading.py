"""What loading a translator takes: ``python -m benchmarks.loading RUN``.

The run is loaded as each worker of a long text does, and one line is translated. Printed are processor seconds, the
peak of memory, and what is held afterwards that the system cannot drop (RssAnon), all beyond a process that has
imported PyTorch and this package. Linux only.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path

import anaphora.tasks.translation.task  # noqa: F401  before memory is measured
from anaphora.bulk.translation import LoadTranslator
from anaphora.prediction.options import SearchOptions


def _megabytes(name: str) -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) * 1024 / 1e6


def main(run: str) -> None:
    """Load it, and print one row of a table."""
    load = LoadTranslator((Path(run),), SearchOptions(beam=1))
    load = replace(load, model=load.model_digest())
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    peak, held, began = _megabytes("VmHWM"), _megabytes("RssAnon"), time.process_time()
    translate = load()
    seconds, peak = time.process_time() - began, _megabytes("VmHWM") - peak
    translate(["A"], 1, lambda line, reason: None)
    print(f"| {run} | {seconds:.2f} | {peak:.0f} | {_megabytes('RssAnon') - held:.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
