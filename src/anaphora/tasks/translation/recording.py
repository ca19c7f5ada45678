"""Alignments of a few validation pairs, logged at each validation: small, and the same pairs all along."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from anaphora.data.corpora import Pair
from anaphora.tasks.translation.translation import Translation
from anaphora.text.tokenizer import Tokenizer

MOST_RECORDS = 100
"""Validations of a training that are recorded."""
SHORT = range(3, 17)
"""Tokens of a side of a pair that is recorded."""


def short_pairs(pairs: Iterable[Pair], tokenizers: Mapping[str, Tokenizer], count: int) -> list[Pair]:
    """The first ``count`` pairs both of whose sides are neither longer nor shorter than ``SHORT``."""

    def fits(pair: Pair) -> bool:
        sides = zip(pair, (tokenizers["source"], tokenizers["target"]), strict=True)
        return all(len(tokenizer.encode(text)) in SHORT for text, tokenizer in sides)

    return list(islice(filter(fits, pairs), count))


def recorded(translation: Translation) -> dict[str, Any]:
    """The pieces of a forced translation and its weights, to three digits after the point."""
    assert translation.weights is not None
    weights = [[round(float(weight), 3) for weight in row] for row in translation.weights]
    return {
        "source": list(translation.source_pieces),
        "target": list(translation.target_pieces),
        "weights": weights,
    }
