"""ARPA files as count models; ``export/arpa.py`` writes them."""

import math
from pathlib import Path

import numpy as np
import torch

from anaphora.errors import DataError
from anaphora.formats.arpa import NEVER, ArpaGram, read_arpa
from anaphora.models.ngram import NgramConfig, NgramModel, NgramModelConfig
from anaphora.text.coder import BOS, EOS, MARKS, UNK, TextCoder
from anaphora.text.words import WordCoder

_LN_10 = math.log(10)
_BEGIN, _END, _UNKNOWN = MARKS[BOS], MARKS[EOS], MARKS[UNK]


def is_arpa(path: Path) -> bool:
    """Whether a path is called as ARPA files are."""
    return path.name.endswith((".arpa", ".arpa.gz"))


def load_arpa(path: Path) -> tuple[NgramModel, TextCoder]:
    """The model in an ARPA file and the coder of its words; DataError for a file that is none or damaged."""
    orders = read_arpa(path)
    known = dict.fromkeys(gram.words[0] for gram in orders[0])
    words = [word for word in known if word not in MARKS]
    coder = WordCoder(words, lowercase=False, tokenise="none", language="en")
    ids = {word: place for place, word in enumerate((*MARKS, *words))}
    model = NgramModel(NgramModelConfig(ngram=NgramConfig(order=len(orders))), coder.symbols)
    for order, grams in enumerate(orders, 1):
        units, log_probs, log_gammas = _numbers(grams, order, ids, path)
        if not model.put(order, units, log_probs, log_gammas):
            raise DataError(
                f"{path} has n-grams of order {order} whose first {order - 1} word(s) are none of order {order - 1}: "
                f"it is damaged, or was pruned by a program that does not mind its contexts."
            )
    return model, coder


def _numbers(
    grams: list[ArpaGram], order: int, ids: dict[str, int], path: Path
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The units of n-grams, their ln p, and their ln gamma."""
    try:
        rows = [[ids[word] for word in gram.words] for gram in grams]
    except KeyError as error:
        raise DataError(
            f"{path} has the word {error} in an n-gram of order {order}, but not alone: it is damaged."
        ) from None
    units = np.array(rows, dtype=np.int64).reshape(len(rows), order)
    log_probs = np.array([gram.log10 for gram in grams]) * _LN_10
    log_gammas = np.array([gram.backoff for gram in grams]) * _LN_10
    if order == 1:
        # the marks meet in </s>: what predicts it is from </s>, what backs off behind it from <s>
        size = len(ids)
        p, gamma = np.full(size, NEVER * _LN_10), np.zeros(size)
        p[units[:, 0]], gamma[units[:, 0]] = log_probs, log_gammas
        gamma[EOS], p[BOS], gamma[BOS] = gamma[BOS], NEVER * _LN_10, 0.0
        units, log_probs, log_gammas = np.arange(size)[:, None], p, gamma
    else:
        units = np.where(units == BOS, EOS, units)
    return torch.from_numpy(units), torch.from_numpy(log_probs), torch.from_numpy(log_gammas)
