"""Beam search over a small table, beside greedy and exhaustive search: its rows depend on its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from anaphora.batch import Batch, pad
from anaphora.inspection.tree import tree_of
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.examples import Search
from anaphora.protocols import Array, SearchStart, Step
from anaphora.search.request import SearchRequest
from anaphora.search.search import search

START, END = "<s>", "</s>"
KERNELS = ["search.beam:beam"]
EXHAUSTIVE = 100
"""Beam that is larger than the number of hypotheses."""


def rows(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections and the drawing of the lesson: the hypotheses of a search over its numbers."""
    tree = tree_of(_search(given), given["k"], Runtime.inference(), "", "")
    paths: dict[int | None, list[str]] = {None: []}
    sections = list[dict[str, Any]]()
    for step in range(1, 1 + max(node.step for node in tree.nodes)):
        lines = []
        own = [node for node in tree.nodes if node.step == step]
        for node in sorted(own, key=lambda node: (node.parent or 0, -node.log_prob)):
            before = paths[node.parent]
            paths[node.number] = [*before, node.token]
            score = f"S{before} + " if before else ""
            lines.append(f"S{paths[node.number]} = {score}{_log_prob(before, node.token)} # {node.fate}")
        text = "Every hypothesis is continued; of all continuations the best k are kept."
        sections.append({"title": f"Step {step}", "text": text, "kernels": KERNELS[step - 1 :], "rows": lines})
    results = []
    for name, (words, _) in _results(given).items():
        terms = [_log_prob(words[:place], word) for place, word in enumerate(words)]
        results.append(f"{name} = {' + '.join(terms)} # {' '.join(words[:-1])}")
    why = "A hypothesis only gets worse, so the search ends when no live one beats the best finished."
    sections.append({"title": "Result", "text": why, "rows": results})
    drawing = list[list[str]]()
    for *before, word in sorted(filter(None, paths.values())):
        # the first continuation is drawn beside its beginning
        if not drawing or drawing[-1][-1] != _key(before):
            drawing.append(["."] * len(before))
        drawing[-1].append(_key([*before, word]))
    return {"sections": sections, "drawing": [" ".join(row) for row in drawing]}


def check(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ln p of the best outputs by search."""
    return {name: score for name, (_, score) in _results(values).items()}


def _results(given: Mapping[str, Any]) -> dict[str, tuple[list[str], float]]:
    """Return the best outputs of the beam, of greedy and of exhaustive search, and their scores."""
    asked, found = _search(given), dict[str, tuple[list[str], float]]()
    for name, size in (("beam", given["k"]), ("greedy", 1), ("exhaustive", EXHAUSTIVE)):
        [[best]] = search(asked.stepper, asked.batch, replace(asked.request, beam=size))
        found[name] = [*asked.pieces(best.ids), END], best.score
    return found


def _key(words: Sequence[str]) -> str:
    return f"S[{','.join(words)}]"


def _log_prob(before: Sequence[str], word: str) -> str:
    return f"ln(p{[before[-1] if before else START, word]})"


def _search(given: Mapping[str, Any]) -> Search:
    table = _Table({tuple(key[2:-1].split(",")): p for key, p in given.items() if key.startswith("p[")})
    return Search(table, Batch.of_rows([0], pad([[table.bos]])), 0, SearchRequest(max_length=6), table.words_of)


class _Table:
    """Table of p(word | word before) as a model for search."""

    def __init__(self, table: Mapping[tuple[str, ...], float]) -> None:
        self._table = table
        self._words = ["<pad>", "<unk>", START, END, *dict.fromkeys(word for _, word in table if word != END)]
        self.size, self.unk, self.bos, self.eos = len(self._words), 1, 2, 3

    def words_of(self, ids: Sequence[int]) -> list[str]:
        """Return the words of an output."""
        return [self._words[one] for one in ids]

    def start(self, batch: Batch) -> SearchStart:
        return SearchStart(None, np.full(batch.size, self.bos), np.zeros(batch.size, np.int64))

    def advance(self, memory: None, state: Array, ids_N: Array) -> Step:
        known = [[self._table.get((self._words[last], word), 0.0) for word in self._words] for last in ids_N]
        with np.errstate(divide="ignore"):
            return Step(np.log(known), None, ids_N)

    def select(self, state: Array, rows_N: Array) -> Array:
        return state[rows_N]

    def keep(self, memory: None, sentences_B: Array) -> None:
        return None
