"""The tree of a beam search has every hypothesis of the beam with its score, and greedy search's path."""

from collections.abc import Sequence
from math import exp, inf, log

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.batch import Batch, pad
from anaphora.errors import ConfigError, DataError
from anaphora.formats.json_text import LN_10
from anaphora.inspection.drawing.trees import tree_figure
from anaphora.inspection.subject import Subject
from anaphora.inspection.tree import LARGEST, Tree, greedy_against_beam, tree, tree_of
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.examples import Search
from anaphora.protocols import Array, SearchStart, Step
from anaphora.search.request import SearchRequest
from tests.inspection.test_diagrams import assert_readable
from tests.searches import beam

WORDS = ("<pad>", "<unk>", "<s>", "</s>", "a", "b", "c")


class Table:
    """p of the next token by the tokens before, from a table; </s> after three tokens."""

    size, unk, bos, eos = len(WORDS), 1, 2, 3

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def log_probs(self, path: Sequence[int]) -> Array:
        if len(path) > 3:
            row = np.full(self.size, -inf, np.float32)
            row[self.eos] = 0
            return row
        generator = torch.Generator().manual_seed(hash((self.seed, *path)) % 2**31)
        scores = 2 * torch.randn(self.size, generator=generator)
        scores[:3] = -inf
        return torch.log_softmax(scores, 0).numpy()

    def start(self, batch: Batch) -> SearchStart:
        return SearchStart(None, [()] * batch.size, np.zeros(batch.size, np.int64))

    def advance(self, memory: None, state: list[tuple[int, ...]], ids_N: Array) -> Step:
        paths = [(*path, token) for path, token in zip(state, ids_N.tolist(), strict=True)]
        return Step(np.stack([self.log_probs(path) for path in paths]), None, paths)

    def select(self, state: list[tuple[int, ...]], rows_N: Array) -> list[tuple[int, ...]]:
        return [state[row] for row in rows_N.tolist()]

    def keep(self, memory: None, sentences_B: Array) -> None:
        return None


def search_over(seed: int) -> Search:
    batch = Batch(pad([[2]]), None, np.array([0]), np.array([False]))
    return Search(Table(seed), batch, 0, SearchRequest(max_length=6), lambda ids: [WORDS[one] for one in ids])


def path_of(found: Tree, number: int) -> tuple[int, ...]:
    node = found.nodes[number]
    before = () if node.parent is None else path_of(found, node.parent)
    return (*before, WORDS.index(node.token))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_tree_has_the_scores_of_the_model_the_results_of_both_searches_and_why_the_rest_was_pruned(
    seed: int, size: int
) -> None:
    search = search_over(seed)
    found = tree_of(search, size, Runtime.inference(), "run", "text")
    model = search.stepper
    assert isinstance(model, Table)
    for node in found.nodes:
        path = (2, *path_of(found, node.number))
        steps = [float(model.log_probs(path[:n])[path[n]]) for n in range(1, len(path))]
        assert node.log_prob == pytest.approx(steps[-1]) and node.score == pytest.approx(sum(steps))
        assert node.step == len(steps)
    best, greedy = ([node for node in found.nodes if getattr(node, name)] for name in ("best", "greedy"))
    for nodes, width, score in ((best, size, found.score), (greedy, 1, found.greedy_score)):
        [[first, *_]] = beam(model, search.batch, beam=width, max_length=6)
        assert [WORDS.index(node.token) for node in sorted(nodes, key=lambda node: node.step)] == [*first.ids, 3]
        assert score == pytest.approx(first.score)
    assert best[-1].fate == "finished" and best[-1].score == pytest.approx(found.score)
    assert size > 1 or all(node.best for node in greedy)
    for step in range(1, len(found.mass) + 1):
        own = [node for node in found.nodes if node.step == step]
        kept = [node.score for node in own if node.fate != "pruned"]
        pruned = [node for node in own if node.fate == "pruned" and "below" in node.why]
        assert len(kept) <= size
        assert all(node.score <= min(kept) + 1e-12 for node in pruned if kept)
        assert all(node.why for node in own if node.fate == "pruned")


def test_the_mass_of_a_beam_as_wide_as_the_tree_is_one() -> None:
    found = tree_of(search_over(1), 20, Runtime.inference(), "run", "text")
    assert found.mass[0] == pytest.approx(1) and all(0 < mass <= 1 + 1e-6 for mass in found.mass)
    narrow = tree_of(search_over(1), 1, Runtime.inference(), "run", "text")
    assert narrow.mass[0] == pytest.approx(exp(narrow.nodes[0].score))


class Deceiving(Table):
    """Greedy search takes "a" (0.5), after which nothing is likely; "b" (0.4) leads to 0.4 x 0.9."""

    def log_probs(self, path: Sequence[int]) -> Array:
        table = [{4: 0.5, 5: 0.4, 6: 0.1}, {4: 0.9, 5: 0.1} if path[-1] == 5 else {4: 0.3, 5: 0.3, 6: 0.4}, {3: 1.0}]
        return np.array([log(table[len(path) - 1].get(token, 1e-99)) for token in range(self.size)], np.float32)


def test_where_greedy_search_is_misled_the_tree_shows_both_paths() -> None:
    search = search_over(0)._replace(stepper=Deceiving(0))
    found = tree_of(search, 2, Runtime.inference(), "run", "text")
    assert (found.output, found.greedy_output) == ("ba</s>", "ac</s>")
    assert found.score == pytest.approx(log(0.36)) and found.greedy_score == pytest.approx(log(0.2))
    assert "[pruned" in str(found) and "*" in str(found)
    assert "greedy search takes \u201ca\u201d instead of \u201cb\u201d at step 1" in found.finding
    assert "less likely: ln p -1.61" in found.finding


def test_a_translator_and_a_language_model_show_their_searches(translator: Subject, language_model: Subject) -> None:
    found = tree(translator, "adf", 3)
    [output] = translator.predictor.translate(["adf"], beam=3, length_penalty=0)
    assert found.score == pytest.approx(output.score)
    continued = tree(language_model, "line 1", 2)
    [greedy] = language_model.predictor.generate_stream(["line 1"], beam=1, length=60)
    prompt = language_model.predictor.score("line 1", eos=False) * LN_10
    assert continued.greedy_score == pytest.approx(greedy.score - prompt, abs=1e-3)
    assert all(node.step <= 60 for node in continued.nodes)


def test_greedy_and_beam_are_compared_over_a_text_and_what_cannot_be_drawn_is_refused(translator: Subject) -> None:
    texts = ["adf", "beg", "cdh", "aeh"]
    found = greedy_against_beam(translator, texts, 3)
    greedy, wide = (translator.predictor.translate(texts, beam=size, length_penalty=0) for size in (1, 3))
    gains = [w.score - g.score for g, w in zip(greedy, wide, strict=True)]
    assert found.below == sum(gain > 1e-6 for gain in gains)
    assert found.sentences == found.below + found.equal + found.above == 4
    assert found.mean_gain == pytest.approx(sum(gains) / 4, abs=1e-6)
    with pytest.raises(ConfigError, match=f"1 to {LARGEST}"):
        tree(translator, "adf", LARGEST + 1)
    with pytest.raises(DataError, match="no lines"):
        greedy_against_beam(translator, [], 3)


@pytest.mark.parametrize(("steps", "size"), [(3, 1), (12, 5), (20, 5), (20, 12)])
def test_a_tree_is_readable_on_a_slide_and_its_result_is_one_straight_line_in_each_row_of_steps(
    steps: int, size: int
) -> None:
    class Long(Table):
        def log_probs(self, path: Sequence[int]) -> Array:
            row = super().log_probs((path[0], path[-1], len(path)))
            row[self.eos] = -inf if len(path) < steps else 0
            return row

    search = search_over(0)._replace(stepper=Long(steps), request=SearchRequest(max_length=steps))
    found = tree_of(search, size, Runtime.inference(), "run", "text")
    figure = tree_figure(found)
    width, height = figure.get_size_inches()
    assert width < 13.4 and (size > 5 or height < 7.6)
    [axes] = figure.axes
    best = [line for line in axes.lines if line.get_gid() == "best"]
    assert len(best) == sum(node.best for node in found.nodes) - 1
    assert all(len(set(line.get_ydata())) == 1 for line in best)
    assert len({line.get_ydata()[0] for line in best}) <= 1 + (steps > 12)
    assert all(line.get_linewidth() < best[0].get_linewidth() for line in axes.lines if line not in best)
    assert_readable(figure)
    written = {one.get_text() for one in axes.texts}
    assert {f"{node.score:.2f}" for node in found.nodes if node.fate != "pruned"} <= written
