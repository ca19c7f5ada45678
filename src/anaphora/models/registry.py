"""The networks and n-gram language models by name: each an import path, looked up when one is built."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, cast

from torch import nn

from anaphora.config import Config
from anaphora.protocols import VocabularyInfo


class Network(NamedTuple):
    home: str
    """The module that its class is in."""
    name: str
    """Name of its class, which is made from its tables and the symbols of its sides."""
    sides: tuple[str, ...]
    """Whose symbols it needs, in order."""
    spells: bool = False
    """True if it needs the words of its sides as well, after the symbols."""


NETWORKS = {
    "translator": Network("anaphora.models.translator", "Translator", ("source", "target")),
    "aligner": Network("anaphora.models.alignment.aligner", "Aligner", ("source", "target")),
    "recurrent": Network("anaphora.models.language_model", "LanguageModel", ("text",), spells=True),
    "classifier": Network("anaphora.models.classifier", "Classifier", ("text",), spells=True),
    "vector-classifier": Network("anaphora.models.classifier", "VectorClassifier", ()),
    "tagger": Network("anaphora.models.tagger", "Tagger", ("text", "characters", "tags"), spells=True),
    "vector-tagger": Network("anaphora.models.tagger", "VectorTagger", ("tags",), spells=True),
    "describer": Network("anaphora.models.writers", "Describer", ("text",)),
    "prediction": Network("anaphora.models.values", "PredictionNetwork", ()),
    "synthesis": Network("anaphora.models.values", "SynthesisNetwork", ("text",)),
    "vector-transducer": Network("anaphora.models.writers", "VectorTransducer", ("target",)),
    "feed-forward": Network("anaphora.models.feed_forward", "FeedForwardLanguageModel", ("text",)),
    "ngram": Network("anaphora.models.ngram.model", "NgramModel", ("text",)),
    "interpolation": Network("anaphora.models.interpolation.model", "Interpolation", ("text",), spells=True),
}


def class_of(network: Network) -> type[nn.Module]:
    return cast("type[nn.Module]", getattr(import_module(network.home), network.name))


def build(
    network: Network,
    config: Config,
    symbols: Mapping[str, VocabularyInfo],
    words: Mapping[str, Sequence[str]] | None = None,
) -> nn.Module:
    """Return a network as ``config`` describes it, with weights of zero.

    Args:
        network: which one.
        config: what has its tables: an experiment, or the network's own class of them.
        symbols: of "source" and "target", or of "text".
        words: of the sides whose units are words, by id after the special tokens.

    Raises:
        ConfigError: an option does not go with the others, or with the vocabularies.
        KeyError: a side has no symbols.
    """
    of_sides: list[Any] = [symbols[side] for side in network.sides]
    if network.spells:
        of_sides += [(words or {}).get(side, ()) for side in network.sides]
    return class_of(network)(config, *of_sides)
