"""The networks by task: what configures them, and how to build one from the tables of an experiment."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from anaphora.config import Config, nearest
from anaphora.errors import ConfigError
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.models.ngram import NgramConfig, NgramModel
from anaphora.models.translator import Translator, TranslatorConfig
from anaphora.protocols import Symbols

_CONFIGS: dict[str, type[Config]] = {"translate": TranslatorConfig, "language-model": LanguageModelConfig}


def network_config(task: str, where: str) -> type[Config]:
    """The class that holds the network tables of a task, which was named in the file ``where``.

    Raises:
        ConfigError: no such task.
    """
    if task not in _CONFIGS:
        known = ", ".join(_CONFIGS)
        raise ConfigError(f"{where}: task '{task}' is unknown.{nearest(task, _CONFIGS)} Known tasks: {known}.")
    return _CONFIGS[task]


def build(task: str, tables: Mapping[str, Any], symbols: Mapping[str, Symbols], where: str) -> nn.Module:
    """The network or count model that an experiment describes, with weights of zero.

    Args:
        task: "translate" or "language-model".
        tables: the parsed experiment; only the network's own tables are looked at.
        symbols: of "source" and "target", or of "text".
        where: the file that the tables come from, for errors.

    Raises:
        ConfigError: an option is unknown, of the wrong type, or does not go with the others.
    """
    kind = network_config(task, where)
    if tables.get("model") == "ngram":
        return NgramModel(NgramConfig.parse(tables.get("ngram", {}), where), symbols["text"])
    config = kind.parse({name: tables[name] for name in kind.model_fields if name in tables}, where)
    if isinstance(config, TranslatorConfig):
        return Translator(config, symbols["source"], symbols["target"])
    assert isinstance(config, LanguageModelConfig)
    return LanguageModel(config, symbols["text"])
