"""Beam search with k = 2 over a small table, beside greedy and exhaustive search."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log

import numpy as np
import torch

from anaphora.batch import Batch, pad
from anaphora.inspection.explain.lesson import Lesson, n
from anaphora.inspection.tree import tree_of
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.examples import Search
from anaphora.protocols import Array, SearchStart, Step
from anaphora.search.request import SearchRequest
from anaphora.search.search import search

WORDS = ("<pad>", "<unk>", "<s>", "</s>", "The", "A", "man", "dog", "walks", "sleeps")
EOS = WORDS.index("</s>")
NEXT = {
    (): {"A": 0.5, "The": 0.4, "dog": 0.1},
    ("A",): {"dog": 0.4, "man": 0.35, "walks": 0.25},
    ("The",): {"man": 0.7, "dog": 0.3},
    ("dog",): {"sleeps": 0.6, "walks": 0.4},
    ("man",): {"walks": 0.8, "sleeps": 0.2},
}
"""p of the next word after the last one; a verb is followed by </s>."""
K = 2
SIZES = {f"beam, k = {K}": K, "greedy": 1, "exhaustive": 100}
"""Beams that are compared; the last is larger than the number of hypotheses."""


def beam() -> Lesson:
    """The two best hypotheses are kept at every step; the best finished one is the result."""
    source = "Score of a hypothesis: the sum of ln p of its words. Greedy search is a beam of k = 1."
    lesson = Lesson("Beam search, by hand", source)
    lesson.section("Given", "p of the next word given the word before; walks and sleeps are always followed by </s>.")
    for last, table in NEXT.items():
        lesson.add_values(**{f"p({word} | {' '.join(last) or '<s>'})": p for word, p in table.items()})
    asked = Search(_Table(), Batch.of_rows([0], pad([[2]])), 0, SearchRequest(max_length=6), _words)
    shown = tree_of(asked, K, Runtime.inference(), "", "")
    paths: dict[int | None, list[str]] = {None: []}
    for step in range(1, len(shown.mass) + 1):
        lesson.section(f"Step {step}", f"Every hypothesis is continued; of all continuations the best {K} are kept.")
        own = [node for node in shown.nodes if node.step == step]
        for node in sorted(own, key=lambda node: (node.parent or 0, -node.log_prob)):
            before = paths[node.parent]
            paths[node.number] = [*before, node.token]
            score, p = 0.0 if node.parent is None else shown.nodes[node.parent].score, _after(before)[node.token]
            value, numbers = f"{n(node.score)}, {node.fate}", f"{n(score)} + ln {n(p)}"
            lesson.row(" ".join(paths[node.number]), "score before + ln p", value, numbers=numbers)
    why = "A hypothesis only gets worse, so the search ends when no live one beats the best finished."
    lesson.section("Result", why)
    theirs = []
    for name, size in SIZES.items():
        [[best]] = search(asked.stepper, asked.batch, replace(asked.request, beam=size))
        words = _words(best.ids)
        score = sum(log(_after(words[:place])[word]) for place, word in enumerate([*words, "</s>"]))
        lesson.row(name, "best output, ln p", f"{' '.join(words)}, {n(score)}")
        lesson.values[name] = score
        theirs.append(torch.tensor(best.score, dtype=torch.float64))
    return lesson.check(list(SIZES), theirs)


def _words(ids: Sequence[int]) -> list[str]:
    return [WORDS[one] for one in ids]


def _after(words: Sequence[str]) -> dict[str, float]:
    if words and words[-1] in ("walks", "sleeps"):
        return {"</s>": 1.0}
    return NEXT.get(tuple(words[-1:]), {})


class _Table:
    """The table as a model for search."""

    size, unk, bos, eos = len(WORDS), 1, 2, EOS

    def start(self, batch: Batch) -> SearchStart:
        return SearchStart(None, [()] * batch.size, np.zeros(batch.size, np.int64))

    def advance(self, memory: None, state: list[tuple[str, ...]], ids_N: Array) -> Step:
        rows = []
        paths = [(*path, WORDS[token]) for path, token in zip(state, ids_N.tolist(), strict=True)]
        for path in paths:
            table = {} if "</s>" in path else _after(path[1:])
            rows.append([log(table[word]) if word in table else -inf for word in WORDS])
        return Step(np.array(rows), None, paths)

    def select(self, state: list[tuple[str, ...]], rows_N: Array) -> list[tuple[str, ...]]:
        return [state[row] for row in rows_N.tolist()]

    def keep(self, memory: None, sentences_B: Array) -> None:
        return None
