"""The models by name, and how to build one from the tables of an experiment."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from torch import nn

from anaphora.config import Config, nearest
from anaphora.errors import ConfigError
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.feed_forward import FeedForwardLanguageModel, FeedForwardLanguageModelConfig
from anaphora.models.interpolation.model import Interpolation, InterpolationModelConfig
from anaphora.models.language_model import LanguageModel, LanguageModelConfig
from anaphora.models.ngram.model import NgramModel, NgramModelConfig
from anaphora.models.translator import Translator, TranslatorConfig
from anaphora.protocols import VocabularyInfo

T = TypeVar("T")


class Kind(NamedTuple):
    """One kind of model."""

    config: type[Config]
    """The class that holds its tables."""
    make: Callable[..., nn.Module]
    """Builds one from its tables and the symbols of its sides."""
    sides: tuple[str, ...]
    """Whose symbols it needs, in order."""
    spells: bool = False
    """Whether it may want to know the words of its sides as well, after the symbols."""


_TEXT = ("text",)
_TASKS: dict[str, dict[str, Kind]] = {
    "translate": {"": Kind(TranslatorConfig, Translator, ("source", "target"))},
    "align": {"": Kind(AlignerModelConfig, Aligner, ("source", "target"))},
    "language-model": {
        "recurrent": Kind(LanguageModelConfig, LanguageModel, _TEXT, spells=True),
        "window": Kind(FeedForwardLanguageModelConfig, FeedForwardLanguageModel, _TEXT),
        "ngram": Kind(NgramModelConfig, NgramModel, _TEXT),
        "mixture": Kind(InterpolationModelConfig, Interpolation, _TEXT, spells=True),
    },
}
"""The kinds of a task by the name that an experiment's ``model`` gives them; a task of one kind has no name for it."""


def kind_of(task: str, tables: Mapping[str, Any], where: str) -> Kind:
    """The kind of model that the tables of an experiment describe; ``where`` is the file that they come from.

    Raises:
        ConfigError: no such task, or no such model of it.
    """
    kinds = _named("task", task, _TASKS, where)
    return _named("model", str(tables.get("model", next(iter(kinds)))), kinds, where)


def build(
    task: str,
    tables: Mapping[str, Any],
    symbols: Mapping[str, VocabularyInfo],
    where: str,
    words: Mapping[str, Sequence[str]] | None = None,
) -> nn.Module:
    """The model that an experiment describes, with weights of zero.

    Args:
        task: "translate", "align" or "language-model".
        tables: the parsed experiment; only the model's own tables are looked at.
        symbols: of "source" and "target", or of "text".
        where: the file that the tables come from, for errors.
        words: of the sides whose units are words, by id after the marks.

    Raises:
        ConfigError: an option is unknown, of the wrong type, or does not go with the others.
    """
    kind = kind_of(task, tables, where)
    own = {name: tables[name] for name in kind.config.model_fields if name in tables}
    of_sides: list[Any] = [symbols[side] for side in kind.sides]
    if kind.spells:
        of_sides += [(words or {}).get(side, ()) for side in kind.sides]
    return kind.make(kind.config.parse(own, where), *of_sides)


def _named(what: str, name: str, known: Mapping[str, T], where: str) -> T:
    if name not in known:
        names = ", ".join(known)
        raise ConfigError(f"{where}: {what} '{name}' is unknown.{nearest(name, known)} Known {what}s: {names}.")
    return known[name]
