"""``anaphora export``: a run in the format of another program."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.files import check_writable
from anaphora.cli.options import RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.events import Report

EXAMPLES = (
    "anaphora export runs/ptb-ngram --to arpa --output ptb.arpa.gz",
    "anaphora export runs/links --to dictionary --output en-de.tsv",
)


def run(
    run_folder: RunFolder,
    output: Annotated[Path, typer.Option(help="The file to write; .gz packs an ARPA file.")],
    to: Annotated[
        str,
        typer.Option(
            metavar="arpa|dictionary",
            help="arpa: a count model, for any n-gram toolkit; dictionary: what an aligner learnt, as TSV. "
            "[default: what the run is]",
        ),
    ] = "",
) -> None:
    """Write a count model as an ARPA file, or an aligner's dictionary as source, target and probability."""
    from anaphora.config import unknown

    if to and to not in _WRITERS:
        raise ConfigError(unknown("--to", to, _WRITERS))
    check_writable(output, read=[run_folder])
    to = to or _natural(run_folder)
    with listening() as report:
        _WRITERS[to](run_folder, output, report)
    typer.echo(output)


def _natural(run_folder: Path) -> str:
    """The format that is for a run of this kind."""
    from anaphora.experiment.conduct import experiment_of

    return "dictionary" if experiment_of(run_folder).task == "align" else "arpa"


def _arpa(run_folder: Path, output: Path, report: "Report") -> None:
    from anaphora.experiment.conduct import experiment_of
    from anaphora.export.arpa import save_arpa
    from anaphora.models.ngram.model import NgramModel
    from anaphora.run.loading import load_model
    from anaphora.text.units import Word

    model, coders, _ = load_model(run_folder, "best", report)
    if not isinstance(model, NgramModel):
        raise ConfigError(f"An ARPA file holds counts, but {run_folder} is no count model: train one from ptb-ngram.")
    save_arpa(model, coders["text"], output)
    text = experiment_of(run_folder).text
    if isinstance(text, Word) and text.tokenise != "none":
        say(
            f"Its words are cut by text.tokenise = {text.tokenise!r}, but whoever reads the file takes what stands "
            f"between spaces for words: give it text that is cut alike, or score with {run_folder} itself."
        )


def _dictionary(run_folder: Path, output: Path, report: "Report") -> None:
    from anaphora.export.dictionary import save_dictionary
    from anaphora.pipeline import Aligner, load_as

    save_dictionary(load_as(Aligner, run_folder, report), output)


_WRITERS = {"arpa": _arpa, "dictionary": _dictionary}
