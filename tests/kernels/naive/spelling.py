"""The second reading of ``spelling.py``: word by word, character by character, as in the paper; autograd derives it."""

from collections.abc import Mapping

import torch
from torch import Tensor

from anaphora.kernels.spelling import Shape


def spelt(characters_NL: Tensor, lengths_N: Tensor, weights: Mapping[str, Tensor], shape: Shape) -> Tensor:
    """Return the vectors of N words (Kim et al. 2016, equations 5, 6 and 8)."""
    words = zip(characters_NL.tolist(), lengths_N.tolist(), strict=True)
    return torch.stack([_word(characters[:length], weights, shape) for characters, length in words])


def _word(characters: list[int], weights: Mapping[str, Tensor], shape: Shape) -> Tensor:
    table_CE = weights["characters.weight"]
    found = []
    for width in range(1, shape.widths + 1):
        behind = [torch.zeros_like(table_CE[0])] * (width - 1)
        vectors = [table_CE[character] for character in characters] + behind
        windows = [torch.cat(vectors[place : place + width]) for place in range(len(characters))]
        H, b = weights[f"width{width}.weight"], weights[f"width{width}.bias"]
        found.append(torch.stack([torch.tanh(H @ window + b) for window in windows]).amax(0))
    y = torch.cat(found)
    for layer in range(shape.highways):
        t = torch.sigmoid(weights[f"transform{layer}.weight"] @ y + weights[f"transform{layer}.bias"])
        g = torch.relu(weights[f"hidden{layer}.weight"] @ y + weights[f"hidden{layer}.bias"])
        y = t * g + (1 - t) * y
    return y
