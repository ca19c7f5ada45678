"""Inputs of networks as vectors (S x D): ids of tokens, characters of words, scaled numbers."""

from typing import Any

import torch

from anaphora.export.graph import Graph
from anaphora.export.parts import Parts
from anaphora.nn.embedding import Embedding
from anaphora.nn.spelling import CharacterEncoder
from anaphora.nn.vectors import VectorsConfig

_END = 1 << 40
_WORDS = 1024
"""Words whose vectors are computed from their characters at once."""


def embedded(graph: Graph, name: str, embedding: Any, ids: str) -> str:
    """Return the vectors of ids; those that are composed from characters become a table."""
    if not isinstance(embedding, Embedding):
        with torch.no_grad():
            rows = torch.split(torch.arange(len(embedding.lengths_V)), _WORDS)
            table = torch.cat([embedding.vectors(ids_N) for ids_N in rows])
        return graph.node("Gather", graph.weight(f"{name}.table", table), ids)
    found: str = graph.node("Gather", graph.weight(f"{name}.weight", embedding.weight), ids)
    return found if embedding.scale == 1 else graph.node("Mul", found, graph.constant(embedding.scale))


def scaled(graph: Graph, config: VectorsConfig, pen: int = 0) -> str:
    """Return the input ``values`` by its means and deviations in training.

    ``pen`` flags behind them stay as they are.
    """
    values = graph.input("values", ["S", len(config.mean) + pen])
    centred = graph.node("Sub", values, graph.constant([*config.mean, *[0.0] * pen]))
    return graph.node("Div", centred, graph.constant([*config.deviation, *[1.0] * pen]))


def spelt(graph: Graph, encoder: CharacterEncoder) -> str:
    """The input ``characters`` (S x L, -1 behind the end of a word) as vectors of words: see ``kernels.spelling``."""
    parts = Parts(graph, "characters.weights.", encoder.weights.tensors(), {})
    ids = graph.input("characters", ["S", "L"], integers=True)
    inside = graph.node("Unsqueeze", graph.node("GreaterOrEqual", ids, graph.constant(0)), graph.constant([-1]))
    table = graph.weight("characters.weights.characters.weight", parts.weights["characters.weight"])
    found = graph.node("Gather", table, graph.node("Max", ids, graph.constant(0)))
    x = graph.node("Mul", found, graph.node("Cast", inside, to=1))
    beyond = encoder.config.max_kernel - 1
    longer = graph.node("Pad", x, graph.constant([0, 0, 0, 0, beyond, 0]))
    moved = [graph.slice(longer, k, k - beyond if k < beyond else _END, axis=1) for k in range(beyond + 1)]
    tops = list[str]()
    for width in range(1, beyond + 2):
        sums = parts.project(f"width{width}", graph.join(moved[:width]), bias=True)  # 1
        sums = graph.node("Where", inside, sums, graph.constant(float("-inf")))
        top = graph.node("ReduceMax", sums, graph.constant([1]), keepdims=0)
        tops.append(graph.node("Tanh", top))  # 2
    y = graph.join(tops)
    for layer in range(encoder.config.highways):
        t = graph.node("Sigmoid", parts.project(f"transform{layer}", y, bias=True))  # 3
        g = graph.node("Relu", parts.project(f"hidden{layer}", y, bias=True))
        y = graph.add([y, graph.node("Mul", t, graph.node("Sub", g, y))])  # 4
    return y
