"""Stand-ins for the placeholders of a sentence: tokens that the model itself copies best."""

from collections.abc import Iterable, Iterator
from itertools import islice

from anaphora.prediction.arguments import Given
from anaphora.protocols import Stepper
from anaphora.search.scoring import score
from anaphora.tasks.translation.forced import Batches
from anaphora.text.masking import Placeholder
from anaphora.text.placeholders import RESERVED
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


def best_copied(stepper: Stepper, source: Tokenizer, target: Tokenizer, batches: Batches) -> tuple[Placeholder, ...]:
    """The words that the model copies best, best first.

    They are rated by the probability that a sentence of the word and a full stop is its own translation: it is that of
    reserved words that it was trained on (``data.placeholders``), and else of names, numbers and words that both
    languages have. Of these, those that begin with a capital or a digit are tried where there are enough.
    """
    tried = _candidates(source, target)
    texts = [f"{one.word}." for one in tried]
    given = [Given(text, source.encode(text)) for text in texts]
    scores = [0.0] * len(tried)
    for batch in batches(given, [target.encode(text) for text in texts]):
        for number, found in zip(batch.example_ids_B.tolist(), score(stepper, batch, attention=False), strict=True):
            scores[number] = found.score
    order = sorted(range(len(tried)), key=lambda number: -scores[number])
    return tuple(tried[number] for number in order[:COUNT]) or (Placeholder(chr(0xE000), UNK),)


def _candidates(source: Tokenizer, target: Tokenizer) -> list[Placeholder]:
    """Words that are one token on either side, spread over the vocabulary; reserved ones first."""
    pieces = written(target)
    reserved = [Placeholder(word, ids[0]) for word in RESERVED if len(ids := target.encode(word)) == 1 and ids != [UNK]]
    reserved = [one for one in reserved if len(ids := source.encode(one.word)) == 1 and ids != [UNK]]
    numbers = range(len(MARKS), len(pieces))
    spread = numbers[:: max(1, len(numbers) // _LOOKED_AT)]
    whole = [(number, piece) for number in spread if (piece := _word(target, pieces[number]))]
    named = [one for one in whole if one[1][0].isupper() or one[1].isdecimal()]
    for some in (named, whole):
        found = [*_single(some, source, target)]
        if len(found) >= COUNT:
            break
    found = found[:: max(1, len(found) // _TRIED)]
    unknown = [Placeholder(_UNKNOWN, UNK)] if source.encode(_UNKNOWN) == [UNK] == target.encode(_UNKNOWN) else []
    return [*reserved, *unknown, *islice(found, _TRIED)]


def _word(target: Tokenizer, piece: str) -> str:
    """The word that a piece is; nothing where it is a part of one."""
    if target.context_free and not isinstance(target, WordTokenizer):
        return piece.removeprefix(SPACE) if piece.startswith(SPACE) and piece[1:].isalnum() else ""
    return piece if piece.isalnum() else ""


def _single(words: Iterable[tuple[int, str]], source: Tokenizer, target: Tokenizer) -> Iterator[Placeholder]:
    for number, word in words:
        if target.encode(word) == [number] and len(ids := source.encode(word)) == 1 and ids != [UNK]:
            yield Placeholder(word, number)
