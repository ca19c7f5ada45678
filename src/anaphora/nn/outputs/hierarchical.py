"""The output as a path through a binary tree (Morin and Bengio 2005).

The tree is that of Huffman over the counts; theirs is made of WordNet.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from anaphora.kernels.outputs.hierarchical import Tree, hierarchical_log_probs, hierarchical_loss, huffman_tree
from anaphora.nn.counts import Counts
from anaphora.nn.outputs.output import Output, OutputConfig, Predictions, affine
from anaphora.protocols import VocabularyInfo


class Hierarchical(OutputConfig):
    """A decision at every node of a binary tree, whose leaves are the words: Huffman's tree, not WordNet's."""

    kind: Literal["hierarchical"] = "hierarchical"
    bias: bool = True
    """True if every inner node has a bias."""

    def build(self, embedding: nn.Embedding | None, width: int, text: VocabularyInfo) -> "HierarchicalOutput":
        """Return the layer; its matrix has no row a word, so there is nothing to tie."""
        return HierarchicalOutput(self, width, text.size)


class HierarchicalOutput(Output):
    """A vector and a bias for each of V - 1 inner nodes, numbered level by level from the root."""

    def __init__(self, config: Hierarchical, width: int, size: int) -> None:
        """``width`` of the states, ``size`` of the vocabulary."""
        super().__init__()
        self.size = size
        self.nodes = nn.Parameter(torch.zeros(size - 1, width))
        self.bias = nn.Parameter(torch.zeros(size - 1 if config.bias else 0))
        self.counts = Counts(size)

    @property
    def tree(self) -> Tree:
        """The paths to the words."""
        return self.counts.derive(lambda counts_V: huffman_tree(counts_V.tolist(), counts_V.device))

    def sum(self, predictions: Predictions) -> Tensor:
        """-ln p of the words."""
        states_NH, ids_N, weights_N, *_ = predictions
        return hierarchical_loss(states_NH, self.nodes, self.bias, ids_N, self.tree, weights_N)

    def log_probs(self, states_NH: Tensor) -> Tensor:
        """ln p of every leaf."""
        return hierarchical_log_probs(affine(states_NH, self.nodes, self.bias), self.tree)
