"""``anaphora calibrate``: how sure to be of a run's translations, fitted to pairs that training never showed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.options import PAIRED, Json, Machine, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.searching import SearchTable
from anaphora.cli.talk import say
from anaphora.wording import counted

if TYPE_CHECKING:
    from anaphora.run.calibrations import Calibration

EXAMPLES = (
    "anaphora calibrate runs/en-de",
    "anaphora calibrate runs/en-de --source held-out.en --reference held-out.de",
    "anaphora calibrate runs/en-de --beam 1 --precision bf16",
)

CONFLICTS = PAIRED


def run(
    run_folder: RunFolder,
    search: SearchTable,
    source: Annotated[Path | None, typer.Option(help="Source text. [default: the validation split]")] = None,
    reference: Annotated[Path | None, typer.Option(help="Reference translation.")] = None,
    as_json: Json = False,
    *,
    machine: Machine,
) -> None:
    """Fit the confidence of translations on held-out pairs, and measure it.

    One half of the pairs fits it, the other measures it. Repeat for other search options and precisions.
    """
    pairs, options = (source, reference) if source and reference else None, search.options()
    where = machine.used()

    from anaphora.tasks.translation.calibration import calibrate

    with listening() as report:
        found = calibrate(run_folder, pairs, options, *where, report)
    _print(found, run_folder, as_json)


def _print(found: "Calibration", run_folder: Path, as_json: bool) -> None:
    from anaphora.formats.json_text import figures_as_json
    from anaphora.tasks.translation.calibration import described

    if as_json:
        measured = {name: one.model_dump() for name, one in found.measured.items()}
        table = {"run": str(run_folder), "settings": found.settings, "fitted_on": found.fitted_on}
        typer.echo(figures_as_json(table | measured))
        return
    typer.echo(f"Calibrated for {described(found.settings)} on {counted(found.fitted_on, 'pair')}; measured on others:")
    for name, one in found.measured.items():
        area = "no AUC, as all are alike" if one.area is None else f"AUC {one.area:.3f}"
        typer.echo(
            f"{counted(one.examples, name.removesuffix('s'))}: {one.positive:.1%} right, {area}, "
            f"expected calibration error {one.calibration_error:.3f}"
        )
    say(f"Next: anaphora translate {run_folder} FILE --confidence")
