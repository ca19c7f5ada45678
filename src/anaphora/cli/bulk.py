"""Options of a translation by several processes, for texts of many lines."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from anaphora.cli.files import given_texts
from anaphora.cli.progress import listening
from anaphora.cli.signals import handling_signals
from anaphora.cli.talk import complain
from anaphora.cli.translations import FOR_LINES, Outputs
from anaphora.errors import ConfigError, DataError
from anaphora.options import Excludes, Needs, Option

if TYPE_CHECKING:
    from anaphora.bulk.translation import LoadTranslator

_SHOWN = 10
"""Refused lines that are reported one by one."""


@dataclass(frozen=True)
class Workers:
    """Number of processes that translate; 0 for this one alone."""

    heading: ClassVar = "Many lines"

    count: Annotated[
        int, Option("Translate with N processes, which may be killed.", min=0, max=1024, metavar="N", name="--workers")
    ] = 0
    shard_lines: Annotated[int | None, Option("With --workers: lines of a shard.", min=1, default="10000")] = None
    engine: Annotated[Literal["local", "ray"], Option("With --workers: run them here or in a Ray cluster.")] = "local"

    conflicts: ClassVar = (
        Needs("--shard-lines --engine", "--workers"),
        Excludes(f"{FOR_LINES} --memory", "--workers", "--workers write lines of text alone"),
    )

    def check(self, outputs: Outputs) -> None:
        """Raise ConfigError for an output that is no file."""
        file = outputs.output
        if self.count and (file is None or (file.exists() and not file.is_file())):
            raise ConfigError("--workers needs a file to write, no pipe or device: add --output FILE.")

    def translate(self, file: str, output: Path, load: "LoadTranslator") -> int:
        """Translate a file into the output, and return how many lines were refused; errors as ``bulk.translation``."""
        from anaphora.bulk.shard import LINES
        from anaphora.bulk.translation import translate_lines

        unreadable = dict[int, str]()

        def refuse(number: int, error: DataError) -> None:
            unreadable[number] = str(error)

        again = "Finished shards are kept; to continue, give the same command again."
        with handling_signals(lambda: again), listening() as report:
            done = translate_lines(
                given_texts(file, refuse),
                output,
                load,
                self.count,
                shard_lines=self.shard_lines or LINES,
                engine=self.engine,
                report=report,
                unreadable=unreadable,
            )
        for refused in done.refused[:_SHOWN]:
            complain(refused.reason)
        if done.refused:
            complain(f"All of them are listed in {output}.refused.tsv.")
        return len(done.refused)
