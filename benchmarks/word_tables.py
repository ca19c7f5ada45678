"""Updates of a table of word vectors by whole and by sparse gradients, one thread, in milliseconds of processor time.

    python -m benchmarks.word_tables

An update is 1,024 words of vectors of 512 numbers, frequent words more often, looked up, their gradients added up,
their norm taken, and a step made: what a batch costs beside the layers of a network.
"""

import statistics
import time

import torch

from anaphora.nn.embedding import Embedding, TableConfig
from anaphora.training.clipping import norms
from anaphora.training.optimizer import NamedOptimizer
from anaphora.training.ranks import ALONE
from anaphora.training.rules import Adam, LazyAdam, Rule, Sgd

ROUNDS, SIZE = 15, 512


def milliseconds(rule: Rule, words: int) -> float:
    """The median of some updates, the first left out, in which torch and the rule make what they keep."""
    table = Embedding(TableConfig(size=SIZE), words, "words")
    optimizer = NamedOptimizer(rule, torch.nn.Sequential(table))
    source = torch.Generator().manual_seed(1)
    taken = []
    for _ in range(ROUNDS):
        ids_TB = (torch.rand(16, 64, generator=source) ** 3 * words).long()
        begin = time.process_time()
        optimizer.clear()
        table(ids_TB).square().sum().backward()
        optimizer.add_gradients(ALONE)
        norms(optimizer.gradients())
        optimizer.step(0.1, epoch=1)
        taken.append(1000 * (time.process_time() - begin))
    return statistics.median(taken[1:])


def main() -> None:
    """Print a table."""
    torch.set_num_threads(1)
    print("| words | sgd | sgd, sparse | adam | lazy-adam |\n| --: | --: | --: | --: | --: |")
    for words in (8_000, 50_000, 200_000):
        figures = [milliseconds(rule, words) for rule in (Sgd(), Sgd(sparse=True), Adam(), LazyAdam())]
        print(f"| {words:,} | {' | '.join(f'{figure:.1f}' for figure in figures)} |", flush=True)


if __name__ == "__main__":
    main()
