"""``anaphora fetch``: bring a known corpus into the data folder."""

from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError

EXAMPLES = (
    "anaphora fetch",
    "anaphora fetch multi30k",
    "anaphora fetch multi30k --from /media/disk/corpora",
)


def run(
    corpus: Annotated[str, typer.Argument(metavar="[CORPUS]", help="What to fetch; the list without it.")] = "",
    origin: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="Take the files from this folder, download nothing.")
    ] = None,
) -> None:
    """Fetch a known corpus, checked by its sha256, or list those there are."""
    from anaphora.data.catalogue import CORPORA
    from anaphora.data.fetch import fetch

    if not corpus:
        if origin is not None:
            raise ConfigError(f"--from takes the files of one corpus: name one of {', '.join(CORPORA)}.")
        for name, known in CORPORA.items():
            typer.echo(f"{name}  {known.about} {known.bytes / 1e6:.1f} MB. Licence: {known.licence}.")
        return
    with listening() as report:
        folder = fetch(corpus, origin, report=report)
    say(f"Licence: {CORPORA[corpus].licence}.")
    typer.echo(folder)
