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
_UNKNOWN = "Xqzvk"
"""A word that no vocabulary has."""

Batches = Callable[[Sequence[Given], Sequence[list[int]]], Iterable[Batch]]
"""Batches of sources and of the ids of their targets."""


def best_copied(stepper: Stepper, source: Tokenizer, target: Tokenizer, batches: Batches) -> tuple[StandIn, ...]:
    """The words that the model copies best, best first.

    Every word that is tried stands once between two others of them, as a sentence of three words, and is rated by the
    probability of it and of the next token where the translation is the same three words. Names and numbers are tried
    where there are enough.
    """
    tried = _candidates(source, target)
    if len(tried) < 3:
        return tuple(tried) or (StandIn(chr(0xE000), UNK),)
    beside = [(tried[place - len(tried) // 3], one, tried[place - len(tried) // 2]) for place, one in enumerate(tried)]
    sources = [" ".join(one.word for one in three) for three in beside]
    targets = [target.encode(text) for text in sources]
    scores = [0.0] * len(tried)
    given = [Given(text, source.encode(text)) for text in sources]
    for batch in batches(given, targets):
        tokens = [tried[number].token for number in batch.example_ids_B.tolist()]
        for number, score in zip(batch.example_ids_B.tolist(), _of_tokens(stepper, batch, tokens), strict=True):
            scores[number] = score
    order = sorted(range(len(tried)), key=lambda number: -scores[number])
    return tuple(tried[number] for number in order[:COUNT])


def _of_tokens(stepper: Stepper, batch: Batch, tokens: Sequence[int]) -> list[float]:
    """ln p of one token of each target and of that behind it."""
    found, before = [0.0] * batch.size, [-1] * batch.size
    ids_BT, lengths_B = batch.target_ids.ids_BT, batch.target_ids.lengths_B

    def given(step: int, sentences_B: Tensor, log_probs_BV: Tensor) -> tuple[Tensor, Tensor]:
        rows_B = sentences_B.cpu()
        chosen_B = ids_BT[rows_B, step]
        values_B = log_probs_BV.gather(1, chosen_B.to(log_probs_BV.device)[:, None]).squeeze(1).tolist()
        for row, chosen, value in zip(rows_B.tolist(), chosen_B.tolist(), values_B, strict=True):
            if tokens[row] in (chosen, before[row]):
                found[row] += value
            before[row] = chosen
        return chosen_B.to(log_probs_BV.device), (step + 1 >= lengths_B[rows_B]).to(log_probs_BV.device)

    with torch.no_grad():
        unroll(stepper, stepper.start(batch), given, int(lengths_B.max()), attention=False)
    return found


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
