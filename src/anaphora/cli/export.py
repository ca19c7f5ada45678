"""``anaphora export``: a run in the format of another program."""

from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.opening import check_writable
from anaphora.cli.options import RunFolder
from anaphora.cli.progress import listening
from anaphora.config import unknown
from anaphora.errors import ConfigError

EXAMPLES = ("anaphora export runs/ptb-ngram --to arpa --output ptb.arpa.gz",)


def run(
    run_folder: RunFolder,
    output: Annotated[Path, typer.Option(help="The file to write; .gz packs it.")],
    to: Annotated[str, typer.Option(metavar="arpa", help="arpa: a count model, for any n-gram toolkit.")] = "arpa",
) -> None:
    """Write a count model as an ARPA file."""
    if to != "arpa":
        raise ConfigError(unknown("--to", to, ["arpa"]))
    check_writable(output)

    from anaphora.export.arpa import save_arpa
    from anaphora.models.ngram import NgramModel
    from anaphora.run.loading import load_model

    with listening() as report:
        model, coders, _ = load_model(run_folder, "best", report)
    if not isinstance(model, NgramModel):
        raise ConfigError(f"An ARPA file holds counts, but {run_folder} is no count model: train one from ptb-ngram.")
    save_arpa(model, coders["text"], output)
    typer.echo(output)
