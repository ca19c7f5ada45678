"""Steps of the networks of an experiment, part by part, before there is any data or training."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora.models import registry
from anaphora.protocols import PartDescription, ProgramModel, VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import task_of
from anaphora.text.tokenizer import MARKS
from anaphora.wording import inflect

STEPS = 4
"""Steps over which a whole network is drawn."""
_USUAL = 256
"""Tokens of a vocabulary whose size only the data decides; no step depends on it."""


def programs_of(experiment: ExperimentBase) -> Mapping[str, Sequence[PartDescription]]:
    """Return the parts of each step of its network; nothing for a network without steps.

    Vocabularies stand in for those of the data. Raises ConfigError for options that cannot be combined.
    """
    network = task_of(experiment).network
    if not issubclass(registry.class_of(network), ProgramModel):
        return {}
    size = getattr(experiment.text, "size", _USUAL)
    symbols = dict.fromkeys(network.sides, VocabularyInfo(size, *range(len(MARKS))))
    words = {side: [f"word{number}" for number in range(size - len(MARKS))] for side in network.sides}
    model = registry.build(network, experiment, symbols, words)
    assert isinstance(model, ProgramModel)
    return model.programs()


@dataclass(frozen=True)
class Diagram:
    """Programs of a network, unrolled over some steps."""

    name: str
    programs: Mapping[str, Sequence[PartDescription]] = field(repr=False)
    steps: int = STEPS
    """Steps that are drawn."""
    cut_every: int = 0
    """Steps of a chunk, after which the gradient stops; 0 for no truncation."""

    def json(self) -> dict[str, Any]:
        parts = {
            name: [part._asdict() | {"reads": [read._asdict() for read in part.reads]} for part in program]
            for name, program in self.programs.items()
        }
        return {"name": self.name, "steps": self.steps, "cut_every": self.cut_every, "programs": parts}

    def __str__(self) -> str:
        lines = [f"{self.name}, {inflect(self.steps, 'step')}"]
        lines += [f"  {name}: {', '.join(part.name for part in parts)}" for name, parts in self.programs.items()]
        return "\n".join(lines)


def diagrams(name: str, programs: Mapping[str, Sequence[PartDescription]], cut_every: int = 0) -> list[Diagram]:
    """Return the whole network over a sentence, then one step of each of its programs."""
    whole = Diagram(name, programs, cut_every=cut_every)
    return [whole, *(Diagram(f"{name}, {one}", {one: parts}, 1) for one, parts in programs.items() if parts)]
