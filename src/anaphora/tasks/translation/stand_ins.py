"""What stands for the placeholders of a sentence: tokens that the model itself copies best."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import torch
from torch import Tensor

from anaphora.batch import Batch
from anaphora.protocols import Stepper
from anaphora.search.unroll import unroll
from anaphora.tasks.translation.forced import Given
from anaphora.text.apart import StandIn
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer
from anaphora.text.words import WordTokenizer, written

COUNT = 16
"""Stand-ins that are kept: as many placeholders of a sentence have different ones."""
_TRIED = 256
"""Words that are tried."""
_LOOKED_AT = 5000
"""Words of a vocabulary that are looked at."""
_SELDOM = 1e-3
"""The mean probability below which a word is no more seldom than another."""
_UNKNOWN = "Xqzvk"
"""A word that no vocabulary has."""

Batches = Callable[[Sequence[Given], Sequence[list[int]]], Iterable[Batch]]
"""Batches of sources and of the ids of their targets."""


def best_copied(stepper: Stepper, source: Tokenizer, target: Tokenizer, batches: Batches) -> tuple[StandIn, ...]:
    """The words that the model copies best, best first.

    Every word that is tried stands once between two others of them, as a sentence of three words. Its rating is the
    probability of it and of the next token where the translation is the same three words, over its mean probability in
    the translations of the other sentences: common words are likely anywhere. Names and numbers are tried where there
    are enough.
    """
    tried = _candidates(source, target)
    if len(tried) < 3:
        return tuple(tried) or (StandIn(chr(0xE000), UNK),)
    beside = [(tried[place - len(tried) // 3], one, tried[place - len(tried) // 2]) for place, one in enumerate(tried)]
    sources = [" ".join(one.word for one in three) for three in beside]
    targets = [target.encode(text) for text in sources]
    given = [Given(text, source.encode(text)) for text in sources]
    words_X = torch.tensor([one.token for one in tried])
    own_X, others_X = torch.zeros(len(tried), dtype=torch.float64), torch.zeros(len(tried), dtype=torch.float64)
    steps = 0
    for batch in batches(given, targets):
        probes = _Probes(batch, words_X)
        with torch.no_grad():
            unroll(stepper, stepper.start(batch), probes, int(batch.target_ids.lengths_B.max()), attention=False)
        own_X += probes.own_X
        others_X += probes.others_X
        steps += probes.steps
    ratings_X = own_X - (others_X / max(1, steps) + _SELDOM).log()
    return tuple(tried[number] for number in ratings_X.argsort(descending=True, stable=True)[:COUNT].tolist())


class _Probes:
    """The choice of a forced decoding, which notes the probabilities of the words that are tried."""

    def __init__(self, batch: Batch, words_X: Tensor) -> None:
        """Row b of the batch tries the word of its example id."""
        self._targets, self._tried_B, self._words_X = batch.target_ids, batch.example_ids_B, words_X
        self._before_B = torch.full_like(batch.example_ids_B, -1)
        self.own_X = torch.zeros(len(words_X), dtype=torch.float64)
        """ln p of the word, and of the token behind it, in its own sentence."""
        self.others_X = torch.zeros(len(words_X), dtype=torch.float64)
        """The sum of its probabilities in the others."""
        self.steps = 0

    def __call__(self, step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        rows_B, values_BV = sentences_B.cpu(), log_probs_BV.cpu().double()
        chosen_B, tried_B = self._targets.ids_BT[rows_B, step], self._tried_B[rows_B]
        values_B = values_BV.gather(1, chosen_B[:, None]).squeeze(1)
        own_B = (chosen_B == self._words_X[tried_B]) | (self._before_B[rows_B] == self._words_X[tried_B])
        self.own_X.index_add_(0, tried_B[own_B], values_B[own_B])
        given_BX = (self._targets.ids_BT[rows_B, :, None] == self._words_X).any(dim=1)
        self.others_X += values_BV[:, self._words_X].exp().masked_fill(given_BX, 0.0).sum(dim=0)
        self.steps += len(rows_B)
        self._before_B[rows_B] = chosen_B
        device = log_probs_BV.device
        return chosen_B.to(device), (step + 1 >= self._targets.lengths_B[rows_B]).to(device)


def _candidates(source: Tokenizer, target: Tokenizer) -> list[StandIn]:
    """Words that are one token on either side, spread over the vocabulary."""
    pieces = written(target)
    numbers = range(len(MARKS), len(pieces))
    spread = numbers[:: max(1, len(numbers) // _LOOKED_AT)]
    whole = [(number, piece) for number in spread if (piece := _word(target, pieces[number]))]
    named = [one for one in whole if one[1][0].isupper() or one[1].isdecimal()]
    for some in (named, whole):
        found = [*_single(some, source, target)]
        if len(found) >= COUNT:
            break
    found = found[:: max(1, len(found) // _TRIED)]
    unknown = [StandIn(_UNKNOWN, UNK)] if source.encode(_UNKNOWN) == [UNK] == target.encode(_UNKNOWN) else []
    return [*unknown, *islice(found, _TRIED)]


def _word(target: Tokenizer, piece: str) -> str:
    """The word that a piece is; nothing where it is a part of one."""
    if target.context_free and not isinstance(target, WordTokenizer):
        return piece.removeprefix(SPACE) if piece.startswith(SPACE) and piece[1:].isalnum() else ""
    return piece if piece.isalnum() else ""


def _single(words: Iterable[tuple[int, str]], source: Tokenizer, target: Tokenizer) -> Iterator[StandIn]:
    for number, word in words:
        if target.encode(word) == [number] and len(ids := source.encode(word)) == 1 and ids != [UNK]:
            yield StandIn(word, number)
