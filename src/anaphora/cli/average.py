"""``anaphora average``: the mean of a run's last checkpoints, used from then on if it validates better.

Examples:
    anaphora average runs/en-de --last 5
"""

from dataclasses import asdict
from typing import Annotated

from anaphora.cli.options import Json, RunFolder, Threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, say, show
from anaphora.options import Option


def run(
    run_folder: RunFolder,
    last: Annotated[int, Option("Number of newest checkpoints to average; see training.keep.", min=2)] = 5,
    threads: Threads = 0,
    as_json: Json = False,
) -> None:
    """Average the last checkpoints of a run.

    The average is kept if it validates better.
    """
    from anaphora.experiment.averaging import average_run

    with listening() as report:
        found = average_run(run_folder, last, report)
    if as_json:
        return print_json(asdict(found) | {"path": found.path and str(found.path)})
    steps = ", ".join(f"step-{update}" for update in found.updates)
    for what, metrics in ((f"average of {steps}", found.metrics), ("best before", found.best_metrics)):
        show(f"{what}: " + ", ".join(f"{name} {value:.4f}" for name, value in metrics.items()))
    say("The average is the best of the run now." if found.better else "The best of the run stays what it was.")
    if found.path is None:
        say("That is an average too, so this one was not kept.")
    else:
        show(found.path)
