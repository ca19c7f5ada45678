"""Options of a translation that asks the memory of its run."""

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from anaphora.cli.translations import Outputs
from anaphora.options import Excludes, Needs

if TYPE_CHECKING:
    from anaphora.memory import Memory
    from anaphora.prediction.adaptation import Adaptation
    from anaphora.tasks.translation import TranslationPredictor

_memory_option = partial(typer.Option, rich_help_panel="Memory")


@dataclass(frozen=True)
class Remembering:
    """Whether the memory is asked, and from which similarity segments are shown."""

    memory: Annotated[bool, _memory_option("--memory", help="Use the translations of the run's memory.")] = False
    fuzzy: Annotated[
        int | None,
        _memory_option(min=1, max=100, help="With --json: minimum similarity of a segment in percent. [default: 75]"),
    ] = None
    adapt: Annotated[
        bool, _memory_option("--adapt", help="Mix what the memory has of similar texts into predictions.")
    ] = False

    conflicts: ClassVar = (
        Needs("--fuzzy", "--memory"),
        Needs("--fuzzy", "--json"),
        Needs("--adapt", "--memory"),
        Excludes("--memory", "--alignments --soft-alignments", "What comes from a memory has no word alignments"),
    )

    def over(self, translator: "TranslationPredictor", run_folder: Path, outputs: Outputs) -> "TranslationPredictor":
        """The translator, with the memory of a run if that is asked for; similar segments are looked for if shown."""
        if not self.memory:
            return translator
        from anaphora.memory.memory import THRESHOLD
        from anaphora.tasks.translation import RememberingTranslator

        fuzzy = (self.fuzzy or THRESHOLD) if outputs.as_json else 100
        return RememberingTranslator(translator, _memory(run_folder), fuzzy)

    def adaptation(self, run_folder: Path) -> "Adaptation | None":
        """What the search is adapted to, if that is asked for."""
        if not self.adapt:
            return None
        from anaphora.tasks.translation import adaptation_to

        return adaptation_to(_memory(run_folder))

    def model(self, run_folder: Path) -> str:
        """What JSON calls the model; empty where it does not say where translations come from."""
        return run_folder.name if self.memory else ""


@cache
def _memory(run_folder: Path) -> "Memory":
    from anaphora.memory import Memory

    return Memory(run_folder)
