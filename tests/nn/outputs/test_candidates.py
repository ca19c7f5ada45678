"""A softmax over the candidates of each sentence: theirs alone, and the same bits in any batch."""

from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError, ShapeError
from anaphora.nn.outputs.adaptive import Adaptive
from anaphora.nn.outputs.candidates import CandidateOutput
from anaphora.nn.outputs.class_factored import ClassFactored
from anaphora.nn.outputs.full import Full
from anaphora.nn.outputs.hierarchical import Hierarchical
from anaphora.nn.outputs.noise_contrastive import NoiseContrastive
from anaphora.nn.outputs.sampled import Sampled
from anaphora.nn.weights import Uniform
from anaphora.protocols import VocabularyInfo

SIZE, WIDTH = 300, 48


def listed(rows: list[list[int]]) -> Ids:
    """Candidates; after those of a sentence come numbers that are no ids."""
    return pad(rows, value=10**6).to(torch.device("cpu"))


DRAW = Random(1)
ROWS = [DRAW.sample(range(4, SIZE), 40), DRAW.sample(range(4, SIZE), 7), DRAW.sample(range(4, SIZE), 211), [5]]


def make(config: Any = None) -> Any:
    output = (config or Full()).build(nn.Embedding(SIZE, WIDTH), WIDTH, VocabularyInfo(SIZE, 0, 1, 2, 3))
    output.initialise(Uniform(range=0.5), torch.Generator().manual_seed(1))
    return output.eval()


def states(rows: int) -> Tensor:
    return torch.randn(rows, WIDTH, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize(
    "config", [Full(), Full(bias=False), Full(fixed_norm=4.0), Sampled(), NoiseContrastive()], ids=str
)
def test_the_probabilities_are_those_of_the_softmax_shared_out_among_the_candidates(config: Any) -> None:
    output = make(config)
    found = output.shortlist(listed(ROWS)).log_probs(states(8))
    whole = output.log_probs(states(8))
    for n in range(8):
        own = ROWS[n // 2]
        assert_close(found[n, own], torch.log_softmax(whole[n, own], 0))
        assert torch.isneginf(found[n]).sum() == SIZE - len(own)


@torch.no_grad()
def test_all_words_as_candidates_give_the_bits_of_the_whole_softmax() -> None:
    output, every = make(), list(range(SIZE))
    found = output.shortlist(listed([every, ROWS[1], every])).log_probs(states(6))
    assert torch.equal(found[[0, 1, 4, 5]], output.log_probs(states(6))[[0, 1, 4, 5]])


def test_a_sentence_has_the_same_bits_alone_and_in_any_batch() -> None:
    output, each = make(), states(4)
    together = output.shortlist(listed(ROWS)).log_probs(each)
    for n, own in enumerate(ROWS):
        alone = output.shortlist(listed([own])).log_probs(each[n : n + 1].expand(5, -1))
        assert torch.equal(alone[3], together[n])
    some = output.shortlist(listed([ROWS[2], ROWS[0]])).log_probs(each[[2, 0]])
    assert torch.equal(some, together[[2, 0]])


def test_keeping_sentences_is_starting_with_them_alone() -> None:
    output = make()
    kept: CandidateOutput = output.shortlist(listed(ROWS)).keep(torch.tensor([3, 1]))
    alone = output.shortlist(listed([ROWS[3], ROWS[1]]))
    assert torch.equal(kept.log_probs(states(2)), alone.log_probs(states(2)))


@pytest.mark.parametrize("config", [ClassFactored(), Hierarchical(), Adaptive()], ids=lambda config: str(config.kind))
def test_outputs_that_cannot_leave_words_out_refuse_candidates(config: Any) -> None:
    with pytest.raises(ConfigError, match=r"Candidates need output\.kind"):
        make(config).shortlist(listed(ROWS))


@pytest.mark.parametrize("rows", [[[4, 7, 4]], [[1], [SIZE]], [[-1, 3], [2, 4]]], ids=str)
def test_candidates_are_different_words_of_the_vocabulary(rows: list[list[int]]) -> None:
    with pytest.raises(ShapeError, match=f"different ids from 0 to {SIZE - 1}"):
        make().shortlist(listed(rows))
