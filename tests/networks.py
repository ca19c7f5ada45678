"""Networks by the tables of an experiment, for tests that need no experiment around them."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import torch
from torch import nn

from anaphora.config import Config, options_of
from anaphora.models import registry
from anaphora.prediction.runtime import runtime_for
from anaphora.protocols import VocabularyInfo
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.registry import named_in, parse, task_of
from anaphora.tasks.task import TrainedModel
from anaphora.text.bytes import ByteTokenizer
from anaphora.text.characters import CharacterTokenizer
from anaphora.text.subwords import SubwordTokenizer
from anaphora.text.symbols import SymbolTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer


def members(union: Any) -> dict[str, Any]:
    """The classes of ``A | B``, or of ``Annotated[A | B, ..]``, by their kinds."""
    inner = get_args(union)[0] if get_origin(union) is Annotated else union
    return {options_of(member)["kind"].default: member for member in get_args(inner) or (inner,)}


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


Net = TypeVar("Net", bound=nn.Module)


def made(
    of: type[Net],
    task: str,
    tables: Mapping[str, Any],
    symbols: VocabularyInfo | Mapping[str, VocabularyInfo],
    seed: int = 3,
    *,
    factor: float = 1.0,
    words: Mapping[str, Sequence[str]] | None = None,
) -> Net:
    """A network of this class with its initial weights, whose predictions a ``factor`` makes uneven."""
    sides = dict.fromkeys(("source", "target", "text"), symbols) if isinstance(symbols, VocabularyInfo) else symbols
    network = build(task, tables, sides, "test.toml", words)
    assert isinstance(network, of)
    network.initialise(seed)  # type: ignore[operator]
    if factor != 1:
        with torch.no_grad():
            for weight in network.parameters():
                weight *= factor
    return network


def untrained(table: Mapping[str, Any], tokenizers: Mapping[str, Tokenizer]) -> TrainedModel:
    """A network of a table with random weights, large enough that no two answers are as good as equal."""
    experiment = parse(dict(table), "test")
    model = task_of(experiment).build(experiment, dict(tokenizers), "test")
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.7 * torch.randn(weight.shape, generator=generator))
    return TrainedModel(Path("run"), experiment, model.eval(), tokenizers, runtime_for())


SENTENCES = ["The old man sees a cat.", "Alice is  in the garden!", "a Ünicode çat \u2581 \U0001f600 </script>", "b"]
"""Texts of the tokenizers below, with characters and spaces that these do not have."""


def untrained_writer(table: Mapping[str, Any], kind: str = "character") -> TrainedModel:
    """A translator or language model of a table, with random weights."""
    name, _, segmentation = kind.partition(" ")
    tokenizer: Any
    match name:
        case "character":
            tokenizer = CharacterTokenizer.learn(SENTENCES[:2], lowercase=False, least=1)
        case "word":
            options: Any = {"lowercase": True, "segmentation": segmentation, "language": "en"}
            tokenizer = WordTokenizer.learn(SENTENCES, size=40, least=1, **options)
        case "symbol":
            empty = SymbolTokenizer((), lowercase=False)
            tokenizer = SymbolTokenizer.learn(map(empty.symbols_of, SENTENCES[:2]), lowercase=False, least=1)
        case "byte":
            tokenizer = ByteTokenizer(lowercase=True)
        case _:
            bytes_too: Any = {"lowercase": True, "byte_fallback": True, "kind": name}
            tokenizer = SubwordTokenizer.learn(SENTENCES * 20, size=320, **bytes_too)
    sides = ["source", "target"] if table["task"] == "translate" else ["text"]
    text = {"tokenizer": name, "sentences": "whole", "lowercase": bool(tokenizer.lowercase)}
    text |= {"segmentation": segmentation} if segmentation else {}
    return untrained({**table, "text": text}, dict.fromkeys(sides, tokenizer))


SMALL = {"size": 8}
NEW_GRU = {"kind": "gru", "reset": "before", "update": "new"}
TABLES: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
TRANSLATORS, MORE_TRANSLATORS = TABLES["translators"], TABLES["more-translators"]


def untrained_translator(name: str, kind: str = "character") -> TrainedModel:
    """A translator of ``TRANSLATORS`` with random weights."""
    options = TRANSLATORS[name]
    table = {side: SMALL | options.get(side, {}) for side in ("encoder", "decoder")}
    rest = {key: value for key, value in options.items() if key not in table}
    embedding = SMALL | rest.pop("embedding", {})
    return untrained_writer({"task": "translate", "embedding": embedding, **table, **rest}, kind)
