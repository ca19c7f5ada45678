"""``anaphora export``: a run in the format of another program."""

from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.files import check_writable
from anaphora.cli.options import RunFolder
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

EXAMPLES = (
    "anaphora export runs/ptb-ngram --to arpa --output ptb.arpa.gz",
    "anaphora export runs/links --to dictionary --output en-de.tsv",
    "anaphora export runs/en-de --to html --output microscope.html",
)


PAGE = "html"
"""Any network that the page computes, whatever its task."""


def run(
    run_folder: RunFolder,
    output: Annotated[Path, typer.Option(help="Output file; .gz compresses an ARPA file.")],
    to: Annotated[
        str,
        typer.Option(
            metavar="arpa|dictionary|html",
            help="File format; html is a page that computes the model. [default: arpa or dictionary]",
        ),
    ] = "",
) -> None:
    """Export an n-gram model (ARPA), a dictionary (TSV) or a network (HTML page)."""
    from anaphora.config import unknown
    from anaphora.tasks.registry import every_kind, kind_of
    from anaphora.tasks.runs import experiment_of

    known = [name for _, kind in every_kind() for name in kind.exports]
    if to and to not in (*known, PAGE):
        raise ConfigError(unknown("--to", to, [*known, PAGE]))
    check_writable(output, read=[run_folder])
    if to == PAGE:
        from anaphora.inspection.microscope import write_microscope

        with listening() as report:
            write_microscope(run_folder, output, report=report)
        typer.echo(output)
        return
    exports = kind_of(experiment_of(run_folder)).exports
    to = to or next(iter(exports), "")
    if to not in exports:
        whose = " and ".join(kind.plural for _, kind in every_kind() if kind.exports.keys() & ({to} if to else known))
        raise ConfigError(f"{run_folder} cannot be exported as {to or ' or '.join(known)}, which is for {whose}.")
    with listening() as report:
        exports[to](run_folder, output, report)
    typer.echo(output)
