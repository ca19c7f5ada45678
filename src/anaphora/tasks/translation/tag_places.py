"""Tags of a sentence in its translation, put there by the attention of the model as it wrote each token.

A pair of tags goes around the tokens that looked at what it encloses: of all runs of whole words, that with the
greatest sum of attention inside less attention outside. A single tag goes where the attention crosses it least. A pair
inside another stays inside it and no two overlap, so that what was well nested still is. Without attention, a token is
taken to have looked at what stands as far into the source as it does into the translation.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anaphora.tasks.translation.translation import Token
from anaphora.text.masking import Tag
from anaphora.text.placeholders import is_glued
from anaphora.text.tokenizer import SPACE, show_text

Weights = npt.NDArray[np.floating[Any]]
TokenizedText = tuple[str, list[Token]]

_SHARPNESS = 8.0
"""Decay of the assumed attention with distance, for models that have none: a factor e for each eighth of the text."""

_LEAST = 1e-2
"""Attention that every token has on every other."""
_NEARNESS = 4.0
"""Decay of the weight of attention with distance: a factor e for each quarter of the text."""
_ROUNDS = 10
"""Steps of the balancing."""


class Placement(NamedTuple):
    """A tag, by its number, and the boundary that it goes to: that in front of this target token."""

    boundary: int
    tag: int


def with_tags(
    text: str,
    tokens: Sequence[Token],
    tags: Sequence[Tag],
    before: Sequence[int],
    source: int,
    weights_TS: Weights | None,
) -> tuple[TokenizedText, float]:
    """Return a text and its tokens with the tags of its source, each with the number of source tokens ``before`` it.

    ``source`` counts these tokens. Weights are those of both sides without ``</s>``, None for a model without
    attention. The second value is the support of the tags, see ``support``; 0 without attention.
    """
    seen = _visible(tokens, text)
    looked_TS = None if weights_TS is None else weights_TS[[token.step for token in seen]]
    weights_TS = diagonal(len(seen), source) if looked_TS is None else balance(looked_TS)
    inner = [n for n in range(1, len(seen)) if not _in_word(text, seen[n - 1].end, seen[n].start)]
    boundaries = [0, *inner, len(seen)] if seen else [0]
    put = put_tags(tags, before, weights_TS, boundaries)
    return _insert(text, tokens, seen, put, tags), 0.0 if looked_TS is None else support(tags, before, looked_TS, put)


def with_source_tags(text: str, tokens: Sequence[Token], tags: Sequence[Tag], places: Sequence[int]) -> TokenizedText:
    """Return a source without its tags and its tokens, with them, each where it is."""
    seen = _visible(tokens, text)
    put = [Placement(sum(token.end <= place for token in seen), number) for number, place in enumerate(places)]
    return _insert(text, tokens, seen, put, tags)


def with_surroundings(before: str, text: str, tokens: Sequence[Token], after: str) -> TokenizedText:
    """Return a text and its tokens between what stays around them."""
    if not before and not after:
        return text, list(tokens)
    found = [*kept_tokens(before), *(token.shift(len(before)) for token in tokens)]
    return before + text + after, [*found, *kept_tokens(after, before + text)]


def put_tags(
    tags: Sequence[Tag], before: Sequence[int], weights_TS: Weights, boundaries: Sequence[int]
) -> list[Placement]:
    """Return the tags in their new order, each with one of ``boundaries``, which ascend.

    ``before`` counts the source tokens in front of each tag; weights are those of the tokens without ``</s>``.
    """
    return list(_Places(tags, before, weights_TS, boundaries).place(range(len(tags)), boundaries[0], boundaries[-1]))


def support(tags: Sequence[Tag], before: Sequence[int], weights_TS: Weights, put: Sequence[Placement]) -> float:
    """Return the fraction of attention that agrees with the place of a tag, of the tag for which it is lowest.

    For a pair: of all that comes from its tokens, or goes to what it encloses in the source, what does both. For a
    single tag: what does not cross it.
    """
    places, found = {one.tag: one.boundary for one in put}, [1.0]
    for number, tag in enumerate(tags):
        s, t = before[number], places[number]
        if tag.partner > number and before[tag.partner] > s:
            rows, columns = slice(t, places[tag.partner]), slice(s, before[tag.partner])
            both = weights_TS[rows, columns].sum()
            found.append(both / (weights_TS[rows].sum() + weights_TS[:, columns].sum() - both))
        elif tag.partner < 0:
            found.append(1 - (weights_TS[:t, s:].sum() + weights_TS[t:, :s].sum()) / max(1, len(weights_TS)))
    return float(min(found))


def diagonal(target: int, source: int) -> Weights:
    """Return the weights of so many tokens where a model has none."""
    weights_TS = np.exp(-_SHARPNESS * _distance(target, source))
    return np.asarray(weights_TS / weights_TS.sum(axis=1, keepdims=True))


def _distance(target: int, source: int) -> Weights:
    """Return how much further one token is into its text than another, as a fraction of the texts."""
    places_T, places_S = ((np.arange(length) + 0.5) / max(1, length) for length in (target, source))
    return np.asarray(np.abs(places_T[:, None] - places_S))


def balance(weights_TS: Weights) -> Weights:
    """Weights of which every source token has its part, those that few look at too (Sinkhorn and Knopp 1967).

    An article looks at its noun, whose gender it has; nothing else looks at the article of the source. What is as far
    into the source as a token into the translation counts for more.
    """
    distance_TS = _distance(*weights_TS.shape)
    weights_TS = (np.sqrt(weights_TS.astype(np.float64)) + _LEAST) * np.exp(-_NEARNESS * distance_TS)
    for _ in range(_ROUNDS):
        weights_TS = weights_TS / weights_TS.sum(axis=0, keepdims=True)
        weights_TS = weights_TS / weights_TS.sum(axis=1, keepdims=True)
    return weights_TS


def _outermost(tags: Sequence[Tag], inner: range) -> Iterator[tuple[int, int]]:
    """Yield the numbers of each pair that is in no other one of ``inner``; twice that of a tag without a partner."""
    opening = inner.start
    while opening < inner.stop:
        closing = max(opening, tags[opening].partner)
        yield opening, closing
        opening = closing + 1


class _Places:
    def __init__(
        self, tags: Sequence[Tag], before: Sequence[int], weights_TS: Weights, boundaries: Sequence[int]
    ) -> None:
        self._tags, self._before, self._boundaries = tags, before, np.asarray(boundaries)
        # attention on the first s source tokens, summed over the first t target tokens
        self._sums = np.zeros((weights_TS.shape[0] + 1, weights_TS.shape[1] + 1))
        self._sums[1:, 1:] = weights_TS.astype(np.float64).cumsum(axis=0).cumsum(axis=1)

    def place(self, inner: range, low: int, high: int) -> Iterable[Placement]:
        """Yield the tags of these numbers, between two boundaries."""
        found: list[tuple[int, int, int]] = []
        taken: list[tuple[int, int]] = []
        pairs = list(_outermost(self._tags, inner))
        for number, (opening, closing) in enumerate(pairs):
            if self._before[opening] < self._before[closing]:
                place = self._run(opening, closing, _free_stretches(taken, low, high))
                if place is not None:
                    taken.append(place)
                    found.append((*place, number))
        for number, (opening, _) in enumerate(pairs):
            if number not in {other for *_, other in found}:
                point = self._point(self._before[opening], _free_stretches(taken, low, high))
                found.append((point, point, number))
        for begin, end, number in sorted(found):
            opening, closing = pairs[number]
            yield Placement(begin, opening)
            yield from self.place(range(opening + 1, closing), begin, end)
            if closing != opening:
                yield Placement(end, closing)

    def _run(self, opening: int, closing: int, free: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
        """Return the run that a pair encloses; None where there is no token left."""
        sums_T = self._sums[:, self._before[closing]] - self._sums[:, self._before[opening]]
        values_T = 2 * sums_T - self._sums[:, -1]
        best: tuple[float, int, int] | None = None
        for low, high in free:
            own = self._range(low, high)
            if len(own) < 2:
                continue
            lowest = np.minimum.accumulate(values_T[own[:-1]])
            end = int(np.argmax(values_T[own[1:]] - lowest))
            begin = int(np.argmin(values_T[own[: end + 1]]))
            gain = float(values_T[own[end + 1]] - lowest[end])
            if best is None or gain > best[0]:
                best = gain, int(own[begin]), int(own[end + 1])
        return best and (best[1], best[2])

    def _point(self, before: int, free: Iterable[tuple[int, int]]) -> int:
        """Return the boundary across which tokens look least."""
        left_T, all_T = self._sums[:, before], self._sums[:, -1]
        crossing_T = (all_T - left_T) + (left_T[-1] - left_T)
        own = np.concatenate([self._range(low, high) for low, high in free])
        return int(own[np.argmin(crossing_T[own])])

    def _range(self, low: int, high: int) -> npt.NDArray[np.int64]:
        return self._boundaries[(self._boundaries >= low) & (self._boundaries <= high)]


def _free_stretches(taken: Iterable[tuple[int, int]], low: int, high: int) -> Iterable[tuple[int, int]]:
    """Yield the stretches left between two boundaries, those of what is taken included."""
    for begin, end in sorted(taken):
        yield low, begin
        low = end
    yield low, high


def _in_word(text: str, before: int, after: int) -> bool:
    """True if a word goes on between two tokens, the one ending at ``before`` and the other beginning at ``after``."""
    return before == after and is_glued(text[before - 1]) and is_glued(text[after])


def _visible(tokens: Sequence[Token], text: str) -> list[Token]:
    return [token for token in tokens if token.end > token.start and text[token.start] != " "]


def _insert(
    text: str, tokens: Sequence[Token], seen: Sequence[Token], put: Sequence[Placement], tags: Sequence[Tag]
) -> TokenizedText:
    """Return the text with the tags at their boundaries, and all tokens with their new places."""
    composed, place, found = "", 0, list[Token]()
    rest = list(tokens)
    for boundary, group in groupby(put, key=lambda one: one.boundary):
        end = seen[boundary - 1].end if boundary else 0
        start = seen[boundary].start if boundary < len(seen) else len(text)
        while rest and rest[0].end <= end:
            found.append(rest.pop(0).shift(len(composed) - place))
        composed += text[place:end]
        spaced, behind = _space_tags([tags[one.tag] for one in group], text[end:start])
        for space, tag in spaced:
            composed += space
            found += kept_tokens(tag, composed)
            composed += tag
        composed += behind
        place = start
    found += [token.shift(len(composed) - place) for token in rest]
    composed += text[place:]
    return composed, found


def _space_tags(tags: Sequence[Tag], gap: str) -> tuple[list[tuple[str, str]], str]:
    """Tags that share a boundary, each with the white space in front of it, and the white space behind the last.

    The ``gap`` that is there goes to where it is in the source: outside of what a pair encloses, around or without.
    """
    found: list[tuple[str, str]] = []
    pending, used = "", False
    for tag in tags:
        left, right = tag.spaced
        alone = tag.partner < 0
        if not left and not right and not alone:
            left, right = tag.text[1] != "/", tag.text[1] == "/"
        space, pending = pending, ""
        if left and not used:
            space, used = gap, True
        found.append((space, tag.text))
        pending = gap if left and right else ""
        used = used or (alone and not left and not right)
    return found, pending if used else gap


def kept_tokens(text: str, composed: str = "") -> Iterator[Token]:
    """Yield what is kept as tokens without spaces; it goes behind what is composed."""
    place = len(composed)
    for word in text.split(" "):
        space = SPACE if place > len(composed) or composed[-1:] in ("", " ") else ""
        if word:
            yield Token(space + show_text(word), place, place + len(word), -1)
        place += len(word) + 1
