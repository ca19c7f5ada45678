"""Tree of a beam search: kept and pruned tokens, and the path of greedy search."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, inf
from typing import Any, Literal

import numpy as np

from anaphora.errors import ConfigError, DataError
from anaphora.inspection.labels import labels
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject
from anaphora.kernels.log_probs import descending, to_host
from anaphora.kernels.runtime import Runtime, running
from anaphora.prediction.examples import GivesSearches, Search
from anaphora.protocols import Array, Step, Stepper
from anaphora.search.request import SearchRequest, advance
from anaphora.search.search import search as beam_search
from anaphora.search.wrapper import Wrapper

LARGEST = 20
"""Beam of a tree that can be drawn."""

_SHOWN = 2
"""Pruned continuations of a kept hypothesis that are shown."""
_LENGTH = 60
"""Tokens after which an output is cut."""

_CONTEXT = 8
"""Tokens that are printed before a node."""

Fate = Literal["kept", "finished", "pruned"]


@dataclass(frozen=True)
class Node:
    """Token at a place of the tree."""

    number: int
    """Place in ``Tree.nodes``."""
    parent: int | None
    """The node before it; None for the first token of an output."""
    step: int
    """Step from 1."""
    token: str
    log_prob: float
    """ln p of the token after its parent."""
    score: float
    """ln p of the output up to it."""
    fate: Fate
    why: str
    """Reason that the search went on without it; empty for a node that was not pruned."""
    best: bool
    """True if it is part of the result."""
    greedy: bool
    """True if greedy search goes through it."""


@dataclass(frozen=True)
class Tree(Result):
    """One beam search; scores are of what follows a given prompt."""

    run: str
    text: str
    size: int
    output: str
    score: float
    greedy_output: str
    greedy_score: float
    nodes: tuple[Node, ...]
    mass: tuple[float, ...]
    """The probability of all outputs that begin with a hypothesis of the beam, or are finished, after each step."""

    @property
    def finding(self) -> str:
        """Comparison with greedy search, in one sentence."""
        best, greedy = (self.output.removesuffix("</s>"), self.greedy_output.removesuffix("</s>"))
        found = f"Beam {self.size} writes \u201c{best}\u201d, ln p {self.score:.2f}"
        own = next((one for one in self.nodes if one.best and not one.greedy), None)
        other = next((one for one in self.nodes if one.greedy and not one.best), None)
        if own is None or other is None:
            return f"{found}; greedy search writes the same"
        than = "less" if self.greedy_score < self.score else "more"
        return (
            f"{found}; greedy search takes \u201c{other.token}\u201d instead of \u201c{own.token}\u201d at step "
            f"{own.step}, and writes \u201c{greedy}\u201d, {than} likely: ln p {self.greedy_score:.2f}"
        )

    def lines(self) -> Iterator[str]:
        yield f"{self.run}: {self.text}"
        yield f"  beam {self.size}  {self.score:9.4f}  {self.output}"
        yield f"  greedy  {self.greedy_score:9.4f}  {self.greedy_output}"
        for step, mass in enumerate(self.mass, 1):
            yield f"  step {step} (probability kept {mass:.3f})"
            for node in (one for one in self.nodes if one.step == step):
                before = "" if node.parent is None else f"{self._path(node.parent)} "
                mark = ("*" if node.best else " ") + ("g" if node.greedy else " ")
                why = f": {node.why}" if node.why else ""
                yield f"   {mark} {node.score:9.4f}  {before}{node.token}  [{node.fate}{why}]"

    def _path(self, number: int) -> str:
        """Return the tokens up to a node, the last few of them."""
        tokens = list[str]()
        place: int | None = number
        while place is not None and len(tokens) < _CONTEXT:
            tokens.append(self.nodes[place].token)
            place = self.nodes[place].parent
        return " ".join([*([] if place is None else ["\u2026"]), *reversed(tokens)])


@dataclass(frozen=True)
class GreedyAgainstBeam(Result):
    """Comparison of the scores of greedy and beam search on a text."""

    run: str
    size: int
    sentences: int
    below: int
    """Outputs of greedy search with a lower score than that of the beam."""
    equal: int
    above: int
    """Outputs of greedy search with a higher score: the beam pruned them."""
    mean_gain: float
    """Mean of score(beam) - score(greedy)."""

    def lines(self) -> Iterator[str]:
        share = self.below / self.sentences
        yield (
            f"{self.run}, beam {self.size}: greedy scores lower on {self.below:,} of {self.sentences:,} ({share:.1%}), "
            f"equal on {self.equal:,}, higher on {self.above:,}; the beam gains {self.mean_gain:.4f} nats on average"
        )


def lacks_search(subject: Subject) -> str:
    """Return the reason that a run has no search to show; empty where it has."""
    return "" if isinstance(subject.predictor, GivesSearches) else "it does not write text from text"


def tree(subject: Subject, text: str, beam: int = 5) -> Tree:
    """Return the search for a translation or a continuation of a text, scores without a length penalty.

    For each kept hypothesis, some pruned continuations are in the tree. An output that has no end after ``_LENGTH``
    tokens is cut. Raises ConfigError for a run without search, and for a beam too wide to be drawn.
    """
    search = _search(subject, text, beam)
    assert isinstance(search.request.max_length, int)
    longest = min(search.request.max_length, search.prefix + _LENGTH)
    search = search._replace(request=replace(search.request, max_length=longest))
    return tree_of(search, beam, subject.trained.runtime, subject.name, text)


def greedy_against_beam(subject: Subject, texts: Sequence[str], beam: int = 5) -> GreedyAgainstBeam:
    """Compare greedy search and a beam on each text. Raises DataError for no text, ConfigError as ``tree``."""
    if not texts:
        raise DataError("Greedy search and a beam are compared on a text, but there are no lines: give some.")
    _search(subject, texts[0], beam)
    pairs = zip(subject.predictor.search(texts, 1), subject.predictor.search(texts, beam), strict=True)
    gains = [score - greedy for (_, greedy), (_, score) in pairs]
    count, below, above = len(gains), sum(gain > 1e-6 for gain in gains), sum(gain < -1e-6 for gain in gains)
    equal = count - below - above
    return GreedyAgainstBeam(subject.name, beam, count, below, equal, above, sum(gains) / count)


def _search(subject: Subject, text: str, size: int) -> Search:
    subject.demand("has no search to show", lacks_search(subject))
    if not 1 <= size <= LARGEST:
        raise ConfigError(f"A tree is drawn for a beam of 1 to {LARGEST}, but {size} was asked for: change it.")
    search: Search = subject.predictor.search_for(text)
    return search


_Path = tuple[int, ...]
"""Tokens of an output, or its first ones."""


class _Recording(Wrapper):
    """A Stepper of one sentence that keeps every step of a search."""

    def __init__(self, model: Stepper, request: SearchRequest) -> None:
        super().__init__(model)
        self._request = request
        self._paths: list[_Path] = [()]
        self.steps: list[tuple[list[_Path], Array]] = []
        """Path of each row, the first token with it, and ln p of what may follow it."""

    def advance(self, memory: Any, state: Any, ids_N: Array) -> Step:
        step = advance(self._model, memory, state, ids_N, self._request)
        self._paths = [(*path, token) for path, token in zip(self._paths, ids_N.tolist(), strict=True)]
        self.steps.append((self._paths, to_host(step.log_probs_NV).astype(np.float64)))
        return step

    def select(self, state: Any, rows_N: Array) -> Any:
        """Return the states of the given rows, which the next step continues."""
        self._paths = [self._paths[row] for row in rows_N.tolist()]
        return super().select(state, rows_N)


def tree_of(search: Search, size: int, runtime: Runtime, run: str, text: str) -> Tree:
    """Return the tree of a search; names of ``run`` and ``text`` are those of the result."""
    end = (search.stepper.eos,)
    recordings = [_Recording(search.stepper, search.request) for _ in range(2)]
    with running(runtime):
        [[best]], [[greedy]] = (
            beam_search(recording, search.batch, replace(search.request, beam=beam))
            for recording, beam in zip(recordings, (size, 1), strict=True)
        )
    paths = [(*one.ids, *(end if one.finished else ()))[search.prefix :] for one in (best, greedy)]
    grown = _Growing(search, size, *paths)
    for rows, log_probs_KV in recordings[0].steps[search.prefix :]:
        grown.add([row[1 + search.prefix :] for row in rows], log_probs_KV)
    grown.end()
    grown.add_greedy([log_probs_1V[0] for _, log_probs_1V in recordings[1].steps[search.prefix :]])
    tokens = labels([node.token for node in grown.nodes.values()])
    nodes = tuple(replace(node, token=token) for node, token in zip(grown.nodes.values(), tokens, strict=True))
    outputs = ["".join(search.pieces(path)).replace("\u2581", " ").strip() for path in paths]
    score, of_greedy = (ends[-1].score for ends in ([m for m in nodes if m.best], [m for m in nodes if m.greedy]))
    return Tree(run, text, size, outputs[0], score, outputs[1], of_greedy, nodes, tuple(grown.mass))


class _Growing:
    """Tree to which the steps of a search are added in order."""

    def __init__(self, search: Search, size: int, best: _Path, greedy: _Path) -> None:
        self._search, self._size, self._best, self._greedy = search, size, best, greedy
        self.nodes: dict[_Path, Node] = {}
        self.mass: list[float] = []
        self._kept: dict[_Path, float] = {(): 0.0}
        """The score of every path that is to be continued."""
        self._decided = 0.0
        """The probability of the paths that are finished, and of those that cannot become the result."""
        self._best_finished = -inf

    def add(self, rows: Sequence[_Path], log_probs_KV: Array) -> None:
        """Add the continuations of the rows of one step, as ``search.beam`` ranks them."""
        self._set_aside(self._kept.keys() - set(rows))
        options, ids_KN = [], descending(log_probs_KV)[:, : self._size + _SHOWN]
        for path, log_probs_V, ids_N in zip(rows, log_probs_KV, ids_KN, strict=True):
            for token, log_prob in zip(ids_N.tolist(), log_probs_V[ids_N].tolist(), strict=True):
                if log_prob > -inf:
                    options.append((self._kept[path] + log_prob, (*path, token), log_prob))
        options.sort(key=lambda one: -one[0])
        kept, pruned = options[: self._size], options[self._size :]
        self._kept = {}
        for score, path, log_prob in kept:
            is_finished = path[-1] == self._search.stepper.eos
            self._add_node(path, log_prob, score, "finished" if is_finished else "kept")
            if is_finished:
                self._decided += exp(score)
                self._best_finished = max(self._best_finished, score)
            else:
                self._kept[path] = score
        shown = Counter[_Path]()
        for score, path, log_prob in pruned:
            if shown[path[:-1]] < _SHOWN or path == self._greedy[: len(path)]:
                shown[path[:-1]] += 1
                why = f"{score:.4f} is below {kept[-1][0]:.4f}, the lowest of the best {self._size}"
                self._add_node(path, log_prob, score, "pruned", why)
        self.mass.append(self._decided + sum(map(exp, self._kept.values())))

    def _set_aside(self, paths: Iterable[_Path]) -> None:
        """Write why the search does not continue some paths that are among the best."""
        for path in paths:
            score = self._kept[path]
            why = f"{score:.4f} can only fall, and {self._best_finished:.4f} is finished"
            self.nodes[path] = replace(self.nodes[path], fate="pruned", why=why)
            self._decided += exp(score)

    def end(self) -> None:
        """Write why the search ended without the hypotheses that were still live."""
        if self._best_finished > -inf:
            self._set_aside(self._kept)

    def add_greedy(self, log_probs_TV: Sequence[Array]) -> None:
        """Add the rest of greedy search's path, where the beam went on without it."""
        score = 0.0
        for step, (token, log_probs_V) in enumerate(zip(self._greedy, log_probs_TV, strict=False), 1):
            log_prob = float(log_probs_V[token])
            score += log_prob
            if self._greedy[:step] not in self.nodes:
                why = "follows a pruned token, in greedy search alone"
                self._add_node(self._greedy[:step], log_prob, score, "pruned", why)

    def _add_node(self, path: _Path, log_prob: float, score: float, fate: Fate, why: str = "") -> None:
        [piece] = self._search.pieces(path[-1:])
        number, parent = len(self.nodes), self.nodes[path[:-1]].number if len(path) > 1 else None
        best, greedy = (path == own[: len(path)] for own in (self._best, self._greedy))
        self.nodes[path] = Node(number, parent, len(path), piece, log_prob, score, fate, why, best, greedy)
