"""Log-probabilities of lines that begin alike, as the hypotheses of an n-best list do: a common prefix is read once.

The distinct prefixes of all lines form a tree. It is read by length, all prefixes of one length side by side; each
continues the state of the prefix that is a token shorter, and one prediction serves all tokens that follow it.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from anaphora.models.language_model import LanguageModel
from anaphora.nn.device import device_of

LEVEL = 32
"""Tokens of lines that are read in the time that a level of the tree takes besides the reading of its prefixes."""


class _Level(NamedTuple):
    """The distinct prefixes of one length, in the order of their tokens."""

    ids: list[int]
    """The last token of each."""
    parents: list[int]
    """The place of each prefix without that token, in the level before."""


class PrefixTree:
    """The distinct prefixes of some lines."""

    def __init__(self, rows: Sequence[list[int]]) -> None:
        """``rows``: the tokens of the lines, each at least one, in ascending order."""
        self.levels: list[_Level] = []
        self.paths: list[list[int]] = []
        """For each line, the place of its prefix of every length in its level."""
        before, path = list[int](), list[int]()
        for row in rows:
            shared = _shared(before, row)
            path = path[:shared]
            for depth in range(shared, len(row)):
                if depth == len(self.levels):
                    self.levels.append(_Level([], []))
                level = self.levels[depth]
                level.ids.append(row[depth])
                level.parents.append(path[-1] if path else 0)
                path.append(len(level.ids) - 1)
            self.paths.append(path)
            before = row

    @property
    def saves(self) -> bool:
        """Whether it is faster to read the tree than each line by itself."""
        distinct, tokens = sum(len(level.ids) for level in self.levels), sum(map(len, self.paths))
        return distinct + LEVEL * len(self.levels) < tokens

    @torch.no_grad()
    def log_probs(self, model: LanguageModel, before: int) -> list[Tensor]:
        """ln p of the tokens of every line, in float64; ``before`` precedes each line.

        They have the bits that each line has alone. ``model`` is in evaluation mode; no gradients are made.
        """
        device, found = device_of(model), list[Tensor]()
        state, ids_N, row_N = model.recurrence.initial_state(1), torch.tensor([before]), torch.tensor([0])
        for level in self.levels:
            place_M, of_place_N = torch.unique_consecutive(torch.tensor(level.parents), return_inverse=True)
            rows_M = row_N[place_M].to(device)
            state = {name: state_XH[rows_M] for name, state_XH in state.items()}
            states_MH, state = model.read_token(state, ids_N[place_M].to(device))
            ids_N, row_N = torch.tensor(level.ids), of_place_N
            found.append(model.output.log_probs_of(states_MH, row_N.to(device), ids_N.to(device)).cpu())
        begins = [0, *accumulate(map(len, found))]
        found_P = torch.cat(found)
        return [
            found_P[torch.tensor([begin + place for begin, place in zip(begins, path, strict=False)])]
            for path in self.paths
        ]


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """Number of tokens that two lines begin with in common."""
    for place, (token, same) in enumerate(zip(one, other, strict=False)):
        if token != same:
            return place
    return min(len(one), len(other))
