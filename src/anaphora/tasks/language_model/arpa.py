"""ARPA files: read as n-gram language models, and written from them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from anaphora.errors import DataError
from anaphora.formats.arpa import CAPITAL_UNKNOWN, NEVER, Arpa, ArpaOrder, read_arpa, write_arpa
from anaphora.formats.json_text import LN_10
from anaphora.inference.ngram import BackoffModel
from anaphora.protocols import Array
from anaphora.text.normalise import normalise
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, UNK, Tokenizer
from anaphora.text.whitespace import starts_in, words_in
from anaphora.text.words import WordTokenizer, spellings
from anaphora.wording import inflect

Integers = np.ndarray[Any, np.dtype[np.int32]]

_BEGIN, _END, _UNKNOWN = MARKS[BOS], MARKS[EOS], MARKS[UNK]
_MISSING_UNKNOWN = -100.0
"""log10 p of the unknown word where a file has none: what KenLM takes (``unknown_missing_logprob``)."""


class ArpaTokenizer(WordTokenizer):
    """The words of an ARPA file, every one of them between white space a token.

    A word is found as it is spelt, or else by its Unicode normal form C, whichever of its forms the file has.
    """

    def __init__(self, words: Sequence[str]) -> None:
        """``words`` in the order of their ids, special tokens left out."""
        super().__init__(words, lowercase=False, segmentation="whitespace", language="en")
        composed = ((normalise(word), word) for word in reversed(words))
        self._decomposed = {form: word for form, word in composed if form not in self._ids}

    def words(self, text: str) -> list[str]:
        """Return the words of one line, the known ones as the file spells them."""
        normalise(text)  # refuses what cannot be encoded
        return [word if word in self._ids else self._spelt(word) for word in words_in(text)]

    def encode(self, text: str) -> list[int]:
        """Return one id a word, without special tokens at the ends."""
        ids = list(map(self._ids.get, words_in(text)))
        return super().encode(text) if None in ids else cast(list[int], ids)

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        """Return the words and where they begin: see ``Tokenizer``."""
        return list(zip(self.encode(text), starts_in(normalise(text)), strict=True))

    def _spelt(self, word: str) -> str:
        """Return the spelling that the file has of a word in another form, if it has one."""
        form = normalise(word)
        return self._decomposed.get(form, form)


def load_arpa(path: Path) -> tuple[BackoffModel, Tokenizer]:
    """Return the model in an ARPA file and the tokenizer of its words; DataError for a file that is none or damaged."""
    arpa = read_arpa(path)
    known = arpa.words[: len(arpa.orders[0].log10_N)]
    if _END not in known:
        raise DataError(
            f"{path} should have {_END}, the end of a line, among its {inflect(len(known), 'n-gram')} of order 1, but "
            f"has not: it is no model of lines. Make it again with <s> and </s>."
        )
    words = [word for word in known if word not in (*MARKS, CAPITAL_UNKNOWN)]
    tokenizer = ArpaTokenizer(words)
    ids = {word: place for place, word in enumerate((*MARKS, *words))} | {CAPITAL_UNKNOWN: UNK}
    token_of_word = np.array([ids.get(word, -1) for word in arpa.words], np.int32)
    twice = _UNKNOWN in known and CAPITAL_UNKNOWN in known
    model = BackoffModel((), tokenizer.symbols)
    for order, grams in enumerate(arpa.orders, 1):
        tokens_NK = token_of_word[grams.places_NK]
        if (tokens_NK < 0).any():
            word = arpa.words[grams.places_NK[tokens_NK < 0][0]]
            raise DataError(
                f"{path} has the word {word!r} in an n-gram of order {order}, but not alone: it is damaged."
            )
        tokens, log_probs, log_gammas = _numbers(tokens_NK, grams, len(words) + len(MARKS))
        if twice and len(np.unique(tokens, axis=0)) < len(tokens):
            raise DataError(
                f"{path} should list every n-gram once, but of order {order} has one with {_UNKNOWN} and with "
                f"{CAPITAL_UNKNOWN}, which are the same word: leave out one of the two."
            )
        longer = model.with_order(tokens, log_probs, log_gammas)
        if longer is None:
            raise DataError(
                f"{path} has n-grams of order {order} whose beginning is no n-gram of order {order - 1}: "
                f"it is damaged, or was pruned by a program that does not mind its contexts."
            )
        model = longer
    return model, tokenizer


def _numbers(tokens: Integers, grams: ArpaOrder, size: int) -> tuple[Integers, Array, Array]:
    """The tokens of n-grams as the model reads them, their ln p, and their ln gamma; ``size`` of the vocabulary."""
    log_probs, log_gammas = grams.log10_N * LN_10, grams.backoffs_N * LN_10
    if tokens.shape[1] == 1:
        # the marks meet in </s>: what predicts it is from </s>, what backs off after it from <s>
        p, gamma = np.full(size, NEVER * LN_10), np.zeros(size)
        p[UNK] = _MISSING_UNKNOWN * LN_10
        # where there is <unk> beside <UNK>, the later counts, as in KenLM
        p[tokens[:, 0]], gamma[tokens[:, 0]] = log_probs, log_gammas
        gamma[EOS], p[BOS], gamma[BOS] = gamma[BOS], NEVER * LN_10, 0.0
        tokens, log_probs, log_gammas = np.arange(size, dtype=np.int32)[:, None], p, gamma
    else:
        # no line has anything in front of <s> or after </s>
        read = (tokens[:, 1:] != BOS).all(axis=1) & (tokens[:, :-1] != EOS).all(axis=1)
        tokens, log_probs, log_gammas = tokens[read], log_probs[read], log_gammas[read]
        tokens[tokens == BOS] = EOS
    return tokens, log_probs, log_gammas


def save_arpa(model: BackoffModel, tokenizer: Tokenizer, path: Path) -> None:
    """Write an n-gram language model as an ARPA file; its tokens are the words.

    Raises DataError when it cannot be written, or when a token cannot be a word of such a file.

    Running text has one mark between lines, a file two: ``</s>`` as it is predicted, ``<s>`` as a context.
    """
    names = list(spellings(tokenizer))
    names[PAD] = names[BOS] = ""
    names[EOS], names[UNK] = _END, _UNKNOWN
    _check(name for token, name in enumerate(names) if token not in (PAD, BOS))
    words, begin, orders = [*names, _BEGIN], len(names), list[ArpaOrder]()
    for order, (places_NK, log_probs_N, log_gammas_N) in enumerate(model.ngrams(), 1):
        log10_N, backoffs_N = log_probs_N / LN_10, log_gammas_N / LN_10
        if order == 1:
            shown = np.array([token for token, name in enumerate(names) if name])
            places_NK, log10_N, backoffs_N = (numbers[shown] for numbers in (places_NK, log10_N, backoffs_N))
            end = int(np.flatnonzero(shown == EOS)[0])
            places_NK, log10_N = np.insert(places_NK, end, begin, axis=0), np.insert(log10_N, end, NEVER)
            backoffs_N = np.insert(backoffs_N, end + 1, 0.0)
        else:
            places_NK = np.where((places_NK == EOS) & (np.arange(order) == 0), begin, places_NK)
        orders.append(ArpaOrder(places_NK.astype(np.int32), log10_N.astype(np.float64), backoffs_N.astype(np.float64)))
    write_arpa(path, Arpa(words, orders))


def _check(names: Iterable[str]) -> None:
    """DataError for the first token that is no word between white space, or that reads as another."""
    for name in names:
        if name.encode().split() != [name.encode()]:
            raise DataError(
                f"A word of an ARPA file should hold no white space, but the token {name!r} does: use other tokens, or "
                f"a text without it."
            )
        if name == CAPITAL_UNKNOWN:
            raise DataError(
                f"A word of an ARPA file should be no mark, but the token {name} is read as the unknown word: count a "
                f"text without it."
            )
