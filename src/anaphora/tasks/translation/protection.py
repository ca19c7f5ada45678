"""What a translation may not change, kept by construction: from a sentence to a search, and from there to its text."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import torch

from anaphora.batch import Batch
from anaphora.prediction.arguments import pieces_of
from anaphora.protocols import Stepper
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.pointing import Adjacency, Placeholders, Pointing
from anaphora.tasks.translation.restoring import (
    Token,
    around,
    in_words,
    respaced,
    text_of,
    tokens_of,
    with_own_tags,
    with_tags,
)
from anaphora.text.apart import Apart, StandIn, split_around, take_apart
from anaphora.text.joiner import JOINER
from anaphora.text.normalise import normalise
from anaphora.text.placeholders import Kind, is_glued, spans
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer, shown
from anaphora.text.words import WordTokenizer, written


class Sentence(NamedTuple):
    """A sentence that is to be translated."""

    apart: Apart
    ids: list[int]
    """Of its text, stand-ins included; none where there is nothing to translate."""


class Found(NamedTuple):
    """A hypothesis as text."""

    text: str
    tokens: Sequence[Token]
    """What it is put together from; nothing where nobody asked."""


class Protection:
    """Keeps some kinds of things in the sentences of one translator."""

    def __init__(
        self,
        source: Tokenizer,
        target: Tokenizer,
        kinds: Collection[Kind],
        stand_ins: Callable[[], Sequence[StandIn]],
    ) -> None:
        """``stand_ins`` is called once, for the first placeholder."""
        self._source, self._target, self._kinds, self._choose = source, target, kinds, stand_ins

    def split(self, splitter: Splitter | None, line: str) -> Passage:
        """The sentences of a line; without a splitter, it is one."""
        return split_around(splitter, line, self._kinds) if splitter else Passage.whole(line)

    def apart(self, sentence: str) -> Apart:
        """A sentence taken apart."""
        words = any(not one.tag for one in spans(sentence, self._kinds))
        return take_apart(sentence, self._kinds, self._stand_ins if words else ())

    def pointing(
        self, stepper: Stepper, batch: Batch, rows: Sequence[Sentence], longest: Sequence[int]
    ) -> Pointing | None:
        """The model over the placeholders of the rows of a batch too; None where there are none."""
        most = max(len(row.apart.units) for row in rows)
        if not most:
            return None
        positions_BKS = torch.zeros(len(rows), most, batch.input_ids.ids_BT.shape[1], dtype=torch.bool)
        stand_ins_BK = torch.zeros(len(rows), most, dtype=torch.int64)
        alone_BK = torch.zeros(len(rows), most, dtype=torch.bool)
        for b, row in enumerate(rows):
            own = self._positions(row.apart)
            others = [number for place, number in enumerate(row.ids) if not any(place in one for one in own)]
            for k, (unit, places) in enumerate(zip(row.apart.units, own, strict=True)):
                positions_BKS[b, k, places.start : places.stop] = True
                stand_ins_BK[b, k] = unit.stand_in.token
                alone_BK[b, k] = unit.stand_in.token != UNK or UNK not in others
        placeholders = Placeholders(positions_BKS, stand_ins_BK, alone_BK, torch.tensor(longest))
        return Pointing(stepper, placeholders, self._adjacency)

    def hidden(self, row: Sentence, hypothesis: Hypothesis) -> Hypothesis:
        """A hypothesis that looked at no stand-in, so that none is copied."""
        if not row.apart.units or hypothesis.weights is None:
            return hypothesis
        weights_TS = hypothesis.weights.clone()
        for places in self._positions(row.apart):
            weights_TS[:, places.start : places.stop] = 0
        return replace(hypothesis, weights=weights_TS)

    def restored(self, row: Sentence, hypothesis: Hypothesis, words: Sequence[str], pieces: bool) -> Found:
        """The text of a hypothesis with all that was kept; ``words`` take the places of its unknown words."""
        apart, ids, size = row.apart, hypothesis.ids, self._target.symbols.size
        text = text_of(self._target, ids, words, apart.units)
        if not pieces and not apart.tags:
            return Found(apart.before + text + apart.after, ())
        kept = {step: apart.units[number - size].text for step, number in enumerate(ids) if number >= size}
        own = self._target.pieces([number if number < size else UNK for number in ids])
        tokens = tokens_of(own, text, kept)
        if apart.tags:
            weights, ends = hypothesis.weights, self._ends(apart)
            weights_TS = None if weights is None else weights[: len(ids), : len(row.ids)].numpy()
            before = [sum(end <= place for end in ends) for place in self._tag_places(apart)]
            text, tokens = with_tags(text, tokens, apart.tags, before, len(row.ids), weights_TS)
        text, tokens = around(apart.before, text, tokens, apart.after)
        return Found(text, respaced(tokens, text) if apart.text != apart.sentence else tokens)

    def source_tokens(self, row: Sentence) -> list[Token]:
        """The tokens of the source with all that was kept, by their positions."""
        apart = row.apart
        positions = self._positions(apart)
        tokens = tokens_of(pieces_of(self._source, apart.text, row.ids), apart.text, {})
        for unit, places in zip(apart.units, positions, strict=True):
            first, *others = places
            space = SPACE if tokens[first].piece.startswith(SPACE) else ""
            tokens[first] = tokens[first]._replace(piece=space + shown(unit.text))
            for place in others:
                tokens[place] = tokens[place]._replace(piece="")
        tokens = in_words(tokens)
        text = apart.text
        if apart.tags:
            text, tokens = with_own_tags(text, tokens, apart.tags, self._tag_places(apart))
        _, tokens = around(apart.before, text, tokens, apart.after)
        return respaced(tokens, apart.sentence) if apart.text != apart.sentence else tokens

    @cached_property
    def _stand_ins(self) -> Sequence[StandIn]:
        return self._choose()

    def _ends(self, apart: Apart) -> list[int]:
        """Where the tokens of the source end in its normalised text."""
        starts = [start for _, start in self._source.placed(apart.text)]
        return [*starts[1:], self._normal(apart, len(apart.text))][: len(starts)]

    def _normal(self, apart: Apart, place: int) -> int:
        """A place in the text, in the normalised text."""
        return len(normalise(apart.text[:place], lowercase=self._source.lowercase))

    def _tag_places(self, apart: Apart) -> list[int]:
        return [self._normal(apart, tag.place) for tag in apart.tags]

    def _positions(self, apart: Apart) -> list[range]:
        """The source tokens that stand for each placeholder: those that have a part of it."""
        found, ends = list[range](), self._ends(apart)
        for unit in apart.units:
            start, end = self._normal(apart, unit.start), self._normal(apart, unit.end)
            first = min(sum(one <= start for one in ends), len(ends) - 1)
            found.append(range(first, max(first, sum(one < end for one in ends)) + 1))
        return found

    @cached_property
    def _adjacency(self) -> Adjacency:
        """Tokens that make no word with a placeholder beside them."""
        pieces, target = written(self._target), self._target
        any_V = torch.ones(len(pieces), dtype=torch.bool)
        if isinstance(target, WordTokenizer):
            return Adjacency(any_V, torch.tensor([one[0] != JOINER or not is_glued(one[1:2]) for one in pieces]))
        apart_V = torch.tensor([number < len(MARKS) or not is_glued(one[0]) for number, one in enumerate(pieces)])
        return Adjacency(any_V if target.context_free else apart_V, apart_V)
