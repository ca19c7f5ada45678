"""Networks by the tables of an experiment, for tests that need no experiment around them."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from anaphora.config import Config
from anaphora.models import registry
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import named_in


def build(
    task: str,
    tables: Mapping[str, Any],
    symbols: Mapping[str, VocabularyInfo],
    where: str = "a test",
    words: Mapping[str, Sequence[str]] | None = None,
) -> nn.Module:
    """The network that ``tables`` describe; only its own are looked at."""
    found = named_in({**tables, "task": task}, where)
    config = next(
        base for base in found.experiment.__mro__ if issubclass(base, Config) and not issubclass(base, ExperimentBase)
    )
    own = {name: tables[name] for name in config.model_fields if name in tables}
    return registry.build(found.network, config.parse(own, where), symbols, words)
