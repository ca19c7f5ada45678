"""Beam search with k = 2 over a small table, beside greedy and exhaustive search."""

from collections.abc import Sequence
from math import inf, log

import torch
from torch import Tensor

from anaphora.batch import Batch, pad
from anaphora.inspection.explain.lesson import Lesson, Section, n
from anaphora.protocols import SearchStart, Step
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
_ALL = 100
"""More hypotheses than there are: a beam of them is exhaustive search."""

_Scored = tuple[tuple[str, ...], float]
"""Words of a hypothesis, and its score."""
_START: _Scored = ((), 0.0)


def beam() -> Lesson:
    """The two best hypotheses are kept at every step; the best finished one is the result."""
    start = Section("Given", "p of the next word given the word before; walks and sleeps are always followed by </s>.")
    for before, table in NEXT.items():
        start.given(**{f"p({word} | {' '.join(before) or '<s>'})": p for word, p in table.items()})
    steps = list[Section]()
    found = {f"beam, k = {K}": _search(K, steps), "greedy": _search(1, []), "exhaustive": _search(_ALL, [])}
    why = "A hypothesis only gets worse, so the search ends when no live one beats the best finished."
    last = Section("Result", why)
    for name, (words, score) in found.items():
        last.words(name, "best output, ln p", f"{' '.join(words[:-1])}, {n(score)}")
    return Lesson(
        "Beam search, by hand",
        "Score of a hypothesis: the sum of ln p of its words. Greedy search is a beam of k = 1.",
        (start, *steps, last),
        _difference(list(found.values())),
    )


def _search(size: int, steps: list[Section]) -> _Scored:
    """Return the best output of a beam, and add a section for each step."""
    finished, live = list[_Scored](), [_START]
    while live and (not finished or max(map(_score, finished)) < max(map(_score, live))):
        number = len(steps) + 1
        step = Section(
            f"Step {number}", f"Every hypothesis is continued; of all continuations the best {size} are kept."
        )
        options = [
            ((*had, word), before + log(p), before, p) for had, before in live for word, p in _after(had).items()
        ]
        best = sorted(options, key=lambda option: -option[1])[:size]
        for option in options:
            words, score, kept, p = option
            fate = "pruned" if option not in best else "finished" if words[-1] == "</s>" else "kept"
            step.words(" ".join(words), "score before + ln p", f"{n(score)}, {fate}", f"{n(kept)} + ln {n(p)}")
        steps.append(step)
        finished += [(words, score) for words, score, _, _ in best if words[-1] == "</s>"]
        live = [(words, score) for words, score, _, _ in best if words[-1] != "</s>"]
    return max(finished, key=_score)


def _score(found: _Scored) -> float:
    return found[1]


def _after(words: Sequence[str]) -> dict[str, float]:
    if words and words[-1] in ("walks", "sleeps"):
        return {"</s>": 1.0}
    return NEXT.get(tuple(words[-1:]), {})


class _Table:
    """The table as a model for search."""

    size, unk, bos, eos = len(WORDS), 1, 2, EOS

    def start(self, batch: Batch) -> SearchStart:
        return SearchStart(None, [()] * batch.size, torch.zeros(batch.size, dtype=torch.int64))

    def advance(self, memory: None, state: list[tuple[str, ...]], ids_N: Tensor) -> Step:
        rows = []
        paths = [(*path, WORDS[token]) for path, token in zip(state, ids_N.tolist(), strict=True)]
        for path in paths:
            table = {} if "</s>" in path else _after(path[1:])
            rows.append([log(table[word]) if word in table else -inf for word in WORDS])
        return Step(torch.tensor(rows, dtype=torch.float64), None, paths)

    def select(self, state: list[tuple[str, ...]], rows_N: Tensor) -> list[tuple[str, ...]]:
        return [state[row] for row in rows_N.tolist()]

    def keep(self, memory: None, sentences_B: Tensor) -> None:
        return None


def _difference(ours: Sequence[_Scored]) -> float:
    """From the results of ``search.search`` with k, 1, and as many hypotheses as there are; inf for other words."""
    batch = Batch.of_rows([0], pad([[2]]))
    greatest = 0.0
    for (words, score), size in zip(ours, (K, 1, _ALL), strict=True):
        [[best]] = search(_Table(), batch, SearchRequest(beam=size, max_length=6))
        same = [WORDS[one] for one in best.ids] == list(words[:-1])
        greatest = max(greatest, abs(best.score - score) if same else inf)
    return greatest
