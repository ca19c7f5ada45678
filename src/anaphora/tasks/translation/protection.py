"""Protection of what a translation may not change: masked in a sentence, and written or banned by its search.

``unmasking`` puts back what was masked.
"""

from collections import Counter
from dataclasses import replace

import torch

from anaphora.batch import Batch
from anaphora.prediction.arguments import sentence_of
from anaphora.prediction.options import MAX_TOKENS, SearchOptions
from anaphora.protocols import Stepper
from anaphora.search.banned_strings import BannedStrings
from anaphora.search.pointing import Placeholders, Pointing
from anaphora.search.steering import Steering
from anaphora.tasks.translation.constraints import Requests, SentenceRequest, adjacency_of, spell, spelling_of
from anaphora.tasks.translation.forced_decoding import ForcedDecoder
from anaphora.tasks.translation.translation import Translation
from anaphora.tasks.translation.unmasking import token_places
from anaphora.text.masking import MaskedText, mask, split_around
from anaphora.text.placeholders import RESERVED, USUAL, checked_kinds, spans
from anaphora.text.quality import is_translatable
from anaphora.text.sentences import Passage, Splitter
from anaphora.text.tokenizer import UNK
from anaphora.text.words import WordTokenizer


class Protection:
    """Keeps some kinds of things in the sentences of one translator."""

    def __init__(self, decoder: ForcedDecoder, options: SearchOptions) -> None:
        """ConfigError for kinds that there are not."""
        self._decoder, self._source, self._target = decoder, decoder.source, decoder.target
        self._kinds = USUAL if options.protect is None else checked_kinds(options.protect)
        self._max_tokens = options.max_tokens

    def split(self, splitter: Splitter | None, line: str) -> Passage:
        """Return the sentences of a line; it is one without a splitter, and where there is nothing to translate."""
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
        return mask(sentence, found, () if all(one.tag for one in found) else self._decoder.stand_ins)

    def segment(self, masked: MaskedText, number: int) -> SentenceRequest:
        """Return the request of a sentence on line ``number``; DataError for too many tokens."""
        ids = sentence_of(self._source, masked.text, number, self._max_tokens)
        return SentenceRequest(masked, ids, token_places(self._source, masked))

    def _is_translatable(self, text: str) -> bool:
        rule = self._source.rule
        return not (rule and rule.copies) or is_translatable(text, self._kinds)

    def pointing(self, stepper: Stepper, batch: Batch, rows: Requests) -> Pointing | None:
        """Return the model over the placeholders of the rows of a batch too; None where there are none."""
        most = max(len(row.masked.units) for row in rows)
        if not most:
            return None
        positions_BKS = torch.zeros(len(rows), most, batch.input_ids.ids_BT.shape[1], dtype=torch.bool)
        stand_ins_BK = torch.zeros(len(rows), most, dtype=torch.int64)
        alone_BK, joined_BK, attended_BK = torch.zeros(3, len(rows), most, dtype=torch.bool)
        of_words = isinstance(self._target, WordTokenizer) or self._target.context_free
        for b, row in enumerate(rows):
            needed = row.tokens
            if any(token == UNK and not any(place in one for one in row.places) for place, token in enumerate(row.ids)):
                needed.add(UNK)
            for k, (unit, places) in enumerate(zip(row.masked.units, row.places, strict=True)):
                positions_BKS[b, k, places.start : places.stop] = True
                stand_ins_BK[b, k] = unit.stand_in.token
                joined_BK[b, k] = unit.joined
                alone_BK[b, k] = of_words and unit.stand_in.token not in needed
                attended_BK[b, k] = unit.stand_in.word not in RESERVED
        # suffixes have the last steps, and placeholders that are due those before
        lengths_B = torch.tensor([row.max_length - len(row.suffix) for row in rows])
        placeholders = Placeholders(positions_BKS, stand_ins_BK, alone_BK, joined_BK, attended_BK, lengths_B)
        return Pointing(stepper, placeholders, adjacency_of(self._target))

    def with_known_placeholders(self, row: SentenceRequest) -> SentenceRequest | None:
        """Return the same with the placeholders that the model may have learnt left in its text; None without any."""
        masked, sides = row.masked, (self._source, self._target)
        if not masked.units or masked.units[0].stand_in.word in RESERVED:
            return None
        known = {one.text for one in masked.units if all(spell(one.text, side) for side in sides)}
        if not known:
            return None
        found = spans(masked.sentence, self._kinds)
        others = [one for one in found if one.tag or masked.sentence[one.start : one.end] not in known]
        masked = mask(masked.sentence, others, self._decoder.stand_ins)
        ids = self._source.encode(masked.text)
        if len(ids) > MAX_TOKENS:
            return None
        return row._replace(masked=masked, ids=ids, places=token_places(self._source, masked))

    def accept(self, row: SentenceRequest, found: Translation) -> Translation | None:
        """Return a translation and its alternatives if they have all that the sentence keeps, as often; or None."""
        kept = self._counts(row.masked.sentence)
        if self._counts(found.text) != kept:
            return None
        return replace(found, alternatives=tuple(one for one in found.alternatives if self._counts(one.text) == kept))

    def _counts(self, text: str) -> Counter[str]:
        return Counter(text[one.start : one.end] for one in spans(text, self._kinds))

    def banned_strings(self, rows: Requests) -> list[Steering]:
        """Return steering against writing what the sentences keep; none where the target has no letters for it."""
        texts_B = [self._kept(row) for row in rows]
        return [BannedStrings(texts_B, spelling_of(self._target))] if any(texts_B) else []

    def _kept(self, row: SentenceRequest) -> list[str]:
        """Return the parts kept outside of a sentence's text, as the target writes them, without what is required."""
        sentence = row.masked.sentence
        asked = [row.suffix, *(form for one in row.required for form in one)]
        found = dict.fromkeys(sentence[one.start : one.end] for one in spans(sentence, self._kinds))
        others = "\n".join([row.masked.text, *map(self._target.decode, asked)]) if found else ""
        return [own for text in found if text not in others and (own := spell(text, self._target))]
