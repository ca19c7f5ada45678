"""``anaphora distill``: a small, fast translator that is trained on what larger ones write.

Examples:
    anaphora distill runs/en-de --run runs/small
    anaphora distill runs/en-de-1 runs/en-de-2 runs/en-de-3 --run runs/small --beam 8
    anaphora distill runs/en-de --run runs/small --set decoder.size=192 --set training.epochs=12
"""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from anaphora.cli.options import Json, SettingsOption, TrainingThreads
from anaphora.cli.progress import clock, listening
from anaphora.cli.signals import handling_signals
from anaphora.cli.talk import print_json, say, show
from anaphora.options import Argument, Option


def run(
    teachers: Annotated[list[Path], Argument("Translator, or several that translate together.", metavar="RUN...")],
    run_folder: Annotated[Path, Option("Run folder of the student.", metavar="DIR", name="--run")],
    beam: Annotated[int, Option("Beam size of the teachers.", min=1)] = 5,
    settings: SettingsOption = None,
    threads: TrainingThreads = None,
    as_json: Json = False,
) -> None:
    """Train a small translator on the output of others.

    Repeat the command to continue. The student has one decoder layer of half the size, and searches greedily.
    Translations go to DIR-pairs.
    """
    if threads:
        import torch

        torch.set_num_threads(threads)

    from anaphora.experiment.distillation import distill

    changes = [*(settings or []), *([f"training.threads={threads}"] if threads is not None else [])]
    again = "to continue, repeat the command."
    with handling_signals(lambda: f"What was written is kept; {again}") as signals, listening() as report:
        found = distill(teachers, run_folder, report, beam=beam, settings=changes, stop=signals.stop)
    if not found.systems:
        say(f"Stopped; {again}")
        raise typer.Exit(signals.exit_code)
    if as_json:
        systems = [{"name": system.name, **system.metrics} for system in found.systems]
        return print_json({"run": str(run_folder), "split": found.split, "systems": systems})
    if found.outcome:
        say(f"Trained in {clock(found.outcome.seconds)}. Next: anaphora evaluate {quote(str(run_folder))}")
    names = list(found.systems[0].metrics)
    rows = [(found.split, *names), *((one.name, *(f"{one.metrics[n]:,.2f}" for n in names)) for one in found.systems)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *cells in rows:
        show("  ".join([first.ljust(widths[0]), *map(str.rjust, cells, widths[1:])]))
    show("Sentences per second are of processor time on this machine.")
