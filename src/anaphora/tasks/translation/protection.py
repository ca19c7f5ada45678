"""Protection of what a translation may not change: from a sentence to a search, and from there to its text."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import torch

from anaphora.batch import Batch
from anaphora.prediction.arguments import Given, pieces_of
from anaphora.prediction.options import MAX_TOKENS
from anaphora.protocols import Stepper
from anaphora.search.banned_strings import BannedStrings
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.pointing import Placeholders, Pointing
from anaphora.search.scoring import score
from anaphora.search.steering import Steering
from anaphora.tasks.translation.affixes import Affixes
from anaphora.tasks.translation.confidence import signals_of
from anaphora.tasks.translation.forced import Batches
from anaphora.tasks.translation.required_terms import SentenceTerms
from anaphora.tasks.translation.target_tokens import adjacency_of, spelled, spelling_of
from anaphora.tasks.translation.translation import Signals, Translation
from anaphora.tasks.translation.unmasking import (
    Token,
    around,
    in_words,
    respaced,
    text_of,
    tokens_kept,
    tokens_of,
    with_own_tags,
    with_tags,
)
from anaphora.text.masking import MaskedText, Placeholder, mask, split_around
from anaphora.text.placeholders import RESERVED, Kind, spans
from anaphora.text.quality import is_translatable
from anaphora.text.sentences import Passage, Splitter, is_blank
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer, shown
from anaphora.text.words import WordTokenizer, written

COUNT = 16
"""Stand-ins for placeholders that are kept: as many placeholders of a sentence have different ones."""
_TRIED = 256
"""Words that are tried."""
_LOOKED_AT = 5000
"""Words of a vocabulary that are looked at."""
_UNKNOWN = "Xqzvk"
"""A word that no vocabulary has."""


class SentenceRequest(NamedTuple):
    """Request of one sentence, carried from masking to unmasking."""

    masked: MaskedText
    ids: list[int]
    """Of its text, stand-ins included; none where there is nothing to translate."""
    terms: SentenceTerms = SentenceTerms()
    """Terms that its translation must contain, and must not."""
    affixes: Affixes = Affixes()
    """Beginning and end of its translation."""


class Protection:
    """Keeps some kinds of things in the sentences of one translator."""

    def __init__(
        self,
        source: Tokenizer,
        target: Tokenizer,
        kinds: Collection[Kind],
        stand_ins: Callable[[], Sequence[Placeholder]],
    ) -> None:
        """``stand_ins`` is called for sentences with placeholders alone."""
        self._source, self._target, self._kinds, self._stand_ins = source, target, kinds, stand_ins

    def split(self, splitter: Splitter | None, line: str) -> Passage:
        """The sentences of a line; it is one without a splitter, and where there is nothing to translate."""
        if splitter is None or not self._is_translatable(line):
            return Passage.whole(line)
        return split_around(splitter, line, self._kinds)

    def mask(self, sentence: str, *, framed: bool = False) -> MaskedText:
        """Return a sentence with what it keeps masked, as the model reads it.

        Without a word there is nothing in it to translate, unless it is ``framed`` by what is to be written.
        """
        if not (framed or self._is_translatable(sentence)) or (self._kinds and not any(map(str.isalnum, sentence))):
            return MaskedText(sentence, sentence, "", "")
        sentence = self._source.plain(sentence)
        found = spans(sentence, self._kinds)
        return mask(sentence, found, () if all(one.tag for one in found) else self._stand_ins())

    def _is_translatable(self, text: str) -> bool:
        rule = self._source.rule
        return not (rule and rule.copies) or is_translatable(text, self._kinds)

    def pointing(
        self, stepper: Stepper, batch: Batch, rows: Sequence[SentenceRequest], longest: Sequence[int]
    ) -> Pointing | None:
        """The model over the placeholders of the rows of a batch too; None where there are none."""
        most = max(len(row.masked.units) for row in rows)
        if not most:
            return None
        positions_BKS = torch.zeros(len(rows), most, batch.input_ids.ids_BT.shape[1], dtype=torch.bool)
        stand_ins_BK = torch.zeros(len(rows), most, dtype=torch.int64)
        alone_BK, joined_BK, attended_BK = torch.zeros(3, len(rows), most, dtype=torch.bool)
        of_words = isinstance(self._target, WordTokenizer) or self._target.context_free
        for b, row in enumerate(rows):
            own = self._positions(row.masked)
            needed = row.terms.tokens
            needed.update(row.affixes.prefix.ids, row.affixes.suffix)
            if any(number == UNK and not any(place in one for one in own) for place, number in enumerate(row.ids)):
                needed.add(UNK)
            for k, (unit, places) in enumerate(zip(row.masked.units, own, strict=True)):
                positions_BKS[b, k, places.start : places.stop] = True
                stand_ins_BK[b, k] = unit.stand_in.token
                joined_BK[b, k] = unit.joined
                alone_BK[b, k] = of_words and unit.stand_in.token not in needed
                attended_BK[b, k] = unit.stand_in.word not in RESERVED
        lengths_B = torch.tensor(longest)
        placeholders = Placeholders(positions_BKS, stand_ins_BK, alone_BK, joined_BK, attended_BK, lengths_B)
        return Pointing(stepper, placeholders, adjacency_of(self._target))

    def as_written(self, row: SentenceRequest) -> SentenceRequest | None:
        """The same with the placeholders that the model may have learnt left in its text; None where it has none."""
        masked, sides = row.masked, (self._source, self._target)
        if not masked.units or masked.units[0].stand_in.word in RESERVED:
            return None
        known = {one.text for one in masked.units if all(spelled(one.text, side) for side in sides)}
        found = spans(masked.sentence, self._kinds)
        others = [one for one in found if one.tag or masked.sentence[one.start : one.end] not in known]
        if not known:
            return None
        masked = mask(masked.sentence, others, self._stand_ins())
        ids = self._source.encode(masked.text)
        return row._replace(masked=masked, ids=ids) if len(ids) <= MAX_TOKENS else None

    def whole(self, row: SentenceRequest, found: Translation) -> Translation | None:
        """A translation that has what its sentence keeps as often as that, and its alternatives that have; or None."""
        kept = self._counted(row.masked.sentence)
        if self._counted(found.text) != kept:
            return None
        return replace(found, alternatives=tuple(one for one in found.alternatives if self._counted(one.text) == kept))

    def _counted(self, text: str) -> Counter[str]:
        return Counter(text[one.start : one.end] for one in spans(text, self._kinds))

    def banned_strings(self, rows: Sequence[SentenceRequest]) -> list[Steering]:
        """Return steering against writing what the sentences keep; none where the target has no letters for it."""
        texts_B = [self._kept(row) for row in rows]
        return [BannedStrings(texts_B, spelling_of(self._target))] if any(texts_B) else []

    def _kept(self, row: SentenceRequest) -> list[str]:
        """Return the parts kept outside of a sentence's text, as the target writes them, without what is required."""
        sentence = row.masked.sentence
        asked = [row.affixes.suffix, *(form for one in row.terms.required for form in one)]
        found = dict.fromkeys(sentence[one.start : one.end] for one in spans(sentence, self._kinds))
        others = "\n".join([row.masked.text, *map(self._target.decode, asked)]) if found else ""
        return [own for text in found if text not in others and (own := spelled(text, self._target))]

    def hidden(self, row: SentenceRequest, hypothesis: Hypothesis) -> Hypothesis:
        """A hypothesis that looked at no stand-in, so that none is copied."""
        if not row.masked.units or hypothesis.weights is None:
            return hypothesis
        weights_TS = hypothesis.weights.clone()
        for places in self._positions(row.masked):
            weights_TS[:, places.start : places.stop] = 0
        return replace(hypothesis, weights=weights_TS)

    def copied(self, row: SentenceRequest, attention: bool) -> Translation:
        """A sentence without a word to translate, which is its own translation; each word looks at itself."""
        text = row.masked.before
        found = Translation(text, 0.0, True, signals=Signals((), (None,) * len(text.split())))
        if not attention or is_blank(text):
            return found
        pieces = [token.piece for token in tokens_kept(text)]
        weights = np.eye(len(pieces) + 1, dtype=np.float32)
        source, target = (one.pieces([one.symbols.eos]) for one in (self._source, self._target))
        return replace(found, source_pieces=(*pieces, *source), target_pieces=(*pieces, *target), weights=weights)

    def restored(
        self, row: SentenceRequest, hypothesis: Hypothesis, words: Sequence[str], attention: bool
    ) -> Translation:
        """The translation that a hypothesis is, with all that was kept; ``words`` are its unknown ones."""
        masked, ids = row.masked, hypothesis.ids
        text = text_of(self._target, ids, words, masked.units)
        evidence = hypothesis.evidence
        tokens = self._tokens(text, ids, masked) if attention or masked.tags or evidence else []
        if masked.tags:
            weights, ends = hypothesis.weights, self._ends(masked)
            weights_TS = None if weights is None else weights[: len(ids), : len(row.ids)].numpy()
            before = [sum(end <= place for end in ends) for place in self._tag_places(masked)]
            text, tokens = with_tags(text, tokens, masked.tags, before, len(row.ids), weights_TS)
        text, tokens = around(masked.before, text, tokens, masked.after)
        found = Translation(
            text,
            hypothesis.score,
            hypothesis.finished,
            unknown=ids.count(UNK),
            rank=hypothesis.rank,
            tokens=len(ids) + hypothesis.finished,
            signals=signals_of(evidence, len(row.ids), text, tokens) if evidence else None,
        )
        if not attention:
            return found
        if masked.text != masked.sentence:
            tokens = respaced(tokens, text)
        return self._with_attention(found, tokens, self._source_tokens(row), hypothesis)

    def _with_attention(
        self, found: Translation, tokens: Sequence[Token], source: Sequence[Token], hypothesis: Hypothesis
    ) -> Translation:
        weights = hypothesis.weights
        if weights is not None:
            # what no step wrote looked nowhere, and nothing looked at it
            rows = [token.step for token in tokens] + [len(hypothesis.ids)] * hypothesis.finished
            padded = torch.nn.functional.pad(weights, (0, 1, 0, 1))
            weights = padded[rows][:, [*(token.step for token in source), weights.shape[1] - 1]]
        end = self._target.pieces([self._target.symbols.eos]) if hypothesis.finished else []
        return replace(
            found,
            source_pieces=(*(token.piece for token in source), *self._source.pieces([self._source.symbols.eos])),
            target_pieces=(*(token.piece for token in tokens), *end),
            weights=None if weights is None else weights.numpy(),
        )

    def _tokens(self, text: str, ids: Sequence[int], masked: MaskedText) -> list[Token]:
        """The tokens of a translation without its tags."""
        size = self._target.symbols.size
        kept = {step: masked.units[number - size].text for step, number in enumerate(ids) if number >= size}
        return tokens_of(self._target.pieces([number if number < size else UNK for number in ids]), text, kept)

    def _source_tokens(self, row: SentenceRequest) -> list[Token]:
        """The tokens of the source with all that was kept, by their positions."""
        masked = row.masked
        positions = self._positions(masked)
        tokens = tokens_of(pieces_of(self._source, masked.text, row.ids), masked.text, {})
        for unit, places in zip(masked.units, positions, strict=True):
            first, *others = places
            space = SPACE if tokens[first].piece.startswith(SPACE) else ""
            tokens[first] = tokens[first]._replace(piece=space + shown(unit.text))
            for place in others:
                tokens[place] = tokens[place]._replace(piece="")
        tokens = in_words(tokens)
        text = masked.text
        if masked.tags:
            text, tokens = with_own_tags(text, tokens, masked.tags, self._tag_places(masked))
        _, tokens = around(masked.before, text, tokens, masked.after)
        return respaced(tokens, masked.sentence) if masked.text != masked.sentence else tokens

    def _ends(self, masked: MaskedText) -> list[int]:
        """Return the ends of the source's tokens in its normalised text, without the white space behind them."""
        starts = [start for _, start in self._source.placed(masked.text)]
        text = self._source.normal(masked.text)
        return [start + len(text[start:end].rstrip()) for start, end in pairwise([*starts, len(text)])]

    def _normal(self, masked: MaskedText, place: int) -> int:
        """A place in the text, in the normalised text."""
        return len(self._source.normal(masked.text[:place]))

    def _tag_places(self, masked: MaskedText) -> list[int]:
        return [self._normal(masked, tag.place) for tag in masked.tags]

    def _positions(self, masked: MaskedText) -> list[range]:
        """The source tokens that stand for each placeholder: those that have a part of it."""
        found, ends = list[range](), self._ends(masked)
        for unit in masked.units:
            start, end = self._normal(masked, unit.start), self._normal(masked, unit.end)
            first = min(sum(one <= start for one in ends), len(ends) - 1)
            found.append(range(first, max(first, sum(one < end for one in ends)) + 1))
        return found


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
