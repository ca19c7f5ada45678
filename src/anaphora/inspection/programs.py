"""The steps of the networks of an experiment, part by part, before there is any data or training."""

from collections.abc import Mapping, Sequence

from anaphora.models import registry
from anaphora.protocols import PartDescription, Programmed, VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import kind_of
from anaphora.text.tokenizer import MARKS

_USUAL = 256
"""Tokens of a vocabulary whose size only the data decides; no step depends on it."""


def programs_of(experiment: ExperimentBase) -> Mapping[str, Sequence[PartDescription]]:
    """The parts of each step of its network; nothing for a network without steps.

    Vocabularies stand in for those of the data. Raises ConfigError for options that cannot be combined.
    """
    network = kind_of(experiment).network
    if not issubclass(registry.class_of(network), Programmed):
        return {}
    size = getattr(experiment.text, "size", _USUAL)
    symbols = dict.fromkeys(network.sides, VocabularyInfo(size, *range(len(MARKS))))
    words = {side: [f"word{number}" for number in range(size - len(MARKS))] for side in network.sides}
    model = registry.build(network, experiment, symbols, words)
    assert isinstance(model, Programmed)
    return model.programs()
