"""From hypotheses to translations: unknown words are filled in, and what was masked comes back.

A translator of whole words writes ``<unk>`` for what its vocabulary lacks, mostly names and numbers: it becomes a copy
of the source word that it stands for, or its translation. Which word that is, attention says (Jean et al. 2015, section
3.4), or an annotation that training taught it to write (Luong et al. 2015, "Addressing the Rare Word Problem").
Placeholders stand where the model wrote them, and tags where ``tag_places`` puts them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import regex

from anaphora.errors import ConfigError
from anaphora.prediction.arguments import pieces_of
from anaphora.prediction.candidates import Lookup
from anaphora.prediction.options import SearchOptions
from anaphora.run.calibrations import Calibration
from anaphora.search.hypothesis import Hypothesis
from anaphora.search.steering import Form
from anaphora.tasks.translation.confidence import signals_of, with_confidence
from anaphora.tasks.translation.constraints import Requests, SentenceRequest
from anaphora.tasks.translation.forced_decoding import ForcedDecoder
from anaphora.tasks.translation.tag_places import kept_tokens, with_source_tags, with_surroundings, with_tags
from anaphora.tasks.translation.term_places import TermPlaces
from anaphora.tasks.translation.translation import Signals, Token, Translation
from anaphora.text.masking import MaskedSpan, MaskedText
from anaphora.text.placeholders import is_glued
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.sentences import is_blank
from anaphora.text.tokenizer import MARKS, SPACE, UNK, Tokenizer, show_text
from anaphora.text.words import WordTokenizer

_MARK = 0x100000
"""The first of the characters for private use that stand where a placeholder is to be put."""
_APOSTROPHES = "'\u2019"
"""Signs after which a word goes on, as in ``l'eau``."""
_NEAR = 40
"""Characters within which a token is looked for in the text."""


class UnknownWords:
    """Fills in what attention points to."""

    def __init__(self, source: WordTokenizer, dictionary: Mapping[str, str]) -> None:
        """``dictionary`` translates source words; those that it lacks are copied."""
        self._source, self._dictionary = source, Lookup(dictionary)

    def fill(self, row: SentenceRequest, hypothesis: Hypothesis) -> tuple[list[str], Hypothesis]:
        """Return the word of each ``<unk>`` in the translation of a sentence, and it without annotations."""
        assert hypothesis.weights is not None
        steps = [step for step, token in enumerate(hypothesis.ids) if token == UNK]
        if not steps:
            return [], hypothesis
        words = self._source.words(row.masked.text)
        weights = hypothesis.weights[steps, : len(words)]  # not at </s>
        most, looked = weights.max(axis=1), weights.argmax(axis=1)
        # a window may see nothing
        places = [place if weight > 0 else -1 for weight, place in zip(most.tolist(), looked.tolist(), strict=True)]
        return self._translate(words, places), hypothesis

    def _translate(self, words: Sequence[str], places: Iterable[int]) -> list[str]:
        return [self._translation(words[place]) if place >= 0 else MARKS[UNK] for place in places]

    def _translation(self, word: str) -> str:
        """Return the translation of a word, or the word itself.

        An entry in another case that translates the word by itself says that it is copied, and nothing of how it is
        written: a dictionary learnt from lower-cased text has ``berlin`` for ``berlin``.
        """
        exact = self._dictionary.exact(word)
        if exact is not None:
            return exact
        found = self._dictionary.find(word)
        return word if found is None or found.lower() == word.lower() else found


class AnnotatedWords(UnknownWords):
    """Fills in what annotations point to; what they leave open stays ``<unk>``."""

    def __init__(self, source: WordTokenizer, target: AnnotatedTokenizer) -> None:
        super().__init__(source, target.dictionary)
        self._target = target

    def fill(self, row: SentenceRequest, hypothesis: Hypothesis) -> tuple[list[str], Hypothesis]:
        resolved = self._target.resolve(hypothesis.ids, row.ids)
        words = self._translate(self._source.words(row.masked.text), resolved.sources)
        if tuple(resolved.ids) == hypothesis.ids:
            return words, hypothesis
        steps = [*resolved.steps, *[len(hypothesis.ids)] * hypothesis.finished]
        weights = None if hypothesis.weights is None else hypothesis.weights[steps]
        evidence = hypothesis.evidence and hypothesis.evidence.of_steps(steps)
        return words, replace(hypothesis, ids=tuple(resolved.ids), weights=weights, evidence=evidence)


def unknown_words(decoder: ForcedDecoder, dictionary: Mapping[str, str] | None) -> UnknownWords | None:
    """Return what fills in the unknown words of a translator, or None.

    ``dictionary`` is None where nobody asked for it; only where somebody did it is seen whether the translator attends.
    Raises ConfigError where it can do nothing: tokens are not words, or the translator does not attend.
    """
    source, target = decoder.source, decoder.target
    if isinstance(target, AnnotatedTokenizer):
        if dictionary is not None:
            raise ConfigError(
                f"This translator annotates what it does not know (text.rare = '{target.rare}') and fills it in by the "
                f"dictionary of its run: translate without replacing any."
            )
        assert isinstance(source, WordTokenizer)
        return AnnotatedWords(source, target)
    if dictionary is None:
        return None
    words = _words_of(decoder, "Unknown words can be replaced", "translate without replacing any")
    if not decoder.attends:
        raise ConfigError(
            "Unknown words are replaced by the source word that attention points to, but this translator has no "
            "attention: translate without replacing any."
        )
    return UnknownWords(words, dictionary)


def demand_unknown(decoder: ForcedDecoder) -> None:
    """ConfigError where a translator never writes ``<unk>``, so that it cannot be left out."""
    _words_of(decoder, "Unknown words can be left out", "leave out --known-words")
    if isinstance(decoder.target, AnnotatedTokenizer):
        raise ConfigError(
            f"Unknown words are left out by writing no <unk>, but this translator has text.rare = "
            f"'{decoder.target.rare}' and writes them as annotations: evaluate it on all words."
        )


def _words_of(decoder: ForcedDecoder, able: str, otherwise: str) -> WordTokenizer:
    """Return the source's tokenizer of a translator of words; ConfigError for smaller tokens, with what is ``able``."""
    if not isinstance(decoder.source, WordTokenizer) or not isinstance(decoder.target, WordTokenizer):
        raise ConfigError(
            f"{able} where tokens are words, but this translator has smaller tokens and leaves no word unknown: "
            f"{otherwise}."
        )
    return decoder.source


class Unmasking:
    """The translations that the hypotheses of one translator are."""

    def __init__(self, decoder: ForcedDecoder, options: SearchOptions, calibration: Calibration | None) -> None:
        """Translations have weights and pieces, and confidence, as ``options`` say; errors as for ``unknown_words``."""
        self._source, self._target, self._attention = decoder.source, decoder.target, options.attention
        self._unknown, self._calibration = unknown_words(decoder, options.replace_unknown), calibration

    def needs_attention(self, rows: Requests) -> bool:
        """True if hypotheses of these sentences should have attention weights."""
        return self._attention or self._unknown is not None or any(row.masked.tags or row.required for row in rows)

    def copy(self, row: SentenceRequest) -> Translation:
        """Return a sentence without a word to translate as its own translation; each word looks at itself."""
        text = row.masked.before
        found = Translation(text, 0.0, True, signals=Signals((), (None,) * len(text.split())))
        found = with_confidence(found, self._calibration, text)
        if not self._attention or is_blank(text):
            return found
        pieces = [token.piece for token in kept_tokens(text)]
        return found.with_attention(pieces, pieces, np.eye(len(pieces) + 1, dtype=np.float32))

    def outputs_with_term(self, row: SentenceRequest, hypothesis: Hypothesis, number: int) -> list[Form]:
        """Return the outputs that a hypothesis may become for a term of its sentence: see ``term_places``."""
        if number >= len(row.required):
            return []
        term, masked = row.required[number], row.masked
        text = text_of(self._target, hypothesis.ids, (), masked)
        tokens, end = self._tokens(text, hypothesis.ids, masked), term.start + len(term.source)
        places = tokens_between(self._source, masked, token_ends(self._source, masked), term.start, end)
        return TermPlaces(self._target, row, hypothesis, text, tokens).outputs(term, places)

    def unmask(self, row: SentenceRequest, hypothesis: Hypothesis) -> Translation:
        """Return the translation that a hypothesis is, with all that was masked and without unknown words."""
        words: Sequence[str] = ()
        if self._unknown:
            words, bare = self._unknown.fill(row, _without_stand_ins(row, hypothesis))
            hypothesis = hypothesis if bare.ids == hypothesis.ids else bare
        masked, ids, evidence = row.masked, hypothesis.ids, hypothesis.evidence
        text = text_of(self._target, ids, words, masked)
        lost = tuple(dict.fromkeys(term.name for term in row.required if not term.is_in(text, 0, len(text))))
        tokens = self._tokens(text, ids, masked) if self._attention or masked.tags or evidence else []
        if masked.tags:
            weights = hypothesis.weights
            weights_TS = None if weights is None else weights[: len(ids), : len(row.ids)]
            before = _tokens_before_tags(self._source, masked)
            (text, tokens), _ = with_tags(text, tokens, masked.tags, before, len(row.ids), weights_TS)
        text, tokens = with_surroundings(masked.before, text, tokens, masked.after)
        signals = signals_of(evidence, len(row.ids), text, tokens) if evidence else None
        found = with_confidence(Translation.of(text, hypothesis, signals), self._calibration, masked.sentence)
        found = replace(found, missing_terms=lost)
        if not self._attention:
            return found
        if masked.text != masked.sentence:
            tokens = respace(tokens, text)
        source, weights = self._source_tokens(row), hypothesis.weights
        if weights is not None:
            # what no step wrote looked nowhere, and nothing looked at it
            steps = [token.step for token in tokens] + [len(ids)] * hypothesis.finished
            places = [*(token.step for token in source), weights.shape[1] - 1]
            weights = np.pad(weights, ((0, 1), (0, 1)))[np.ix_(steps, places)]
        pieces = [token.piece for token in source], [token.piece for token in tokens]
        return found.with_attention(*pieces, weights)

    def _tokens(self, text: str, ids: Sequence[int], masked: MaskedText) -> list[Token]:
        """Return the tokens of a translation without its tags."""
        size = self._target.symbols.size
        kept = {step: masked.units[number - size].text for step, number in enumerate(ids) if number >= size}
        return tokens_of(self._target.pieces([number if number < size else UNK for number in ids]), text, kept)

    def _source_tokens(self, row: SentenceRequest) -> list[Token]:
        """Return the tokens of the source with all that was kept, by their positions."""
        masked, text = row.masked, row.masked.text
        tokens = tokens_of(pieces_of(self._source, text, row.ids), text, {})
        for unit, places in zip(masked.units, row.places, strict=True):
            first, *others = places
            space = SPACE if tokens[first].piece.startswith(SPACE) else ""
            tokens[first] = tokens[first]._replace(piece=space + show_text(unit.text))
            for place in others:
                tokens[place] = tokens[place]._replace(piece="")
        tokens = split_at_spaces(tokens)
        if masked.tags:
            text, tokens = with_source_tags(text, tokens, masked.tags, _tag_places(self._source, masked))
        _, tokens = with_surroundings(masked.before, text, tokens, masked.after)
        return respace(tokens, masked.sentence) if masked.text != masked.sentence else tokens


def insert_tags(decoder: ForcedDecoder, masked: MaskedText, target: str) -> tuple[str, float]:
    """Return a given translation with the tags of a sentence, and their support (see ``tag_places``).

    Forced decoding says where its tokens look. Raises as ``ForcedDecoder.score_pairs``.
    """
    support = 1.0
    if masked.tags:
        [forced] = decoder.score_pairs([masked.text], [target], attention=True)
        tokens = tokens_of(forced.target_pieces[:-1], target, {})
        before, count = _tokens_before_tags(decoder.source, masked), len(forced.source_pieces) - 1
        weights_TS = None if forced.weights is None else forced.weights[:-1, :-1]
        (target, _), support = with_tags(target, tokens, masked.tags, before, count, weights_TS)
    return masked.before + target + masked.after, support


def _tokens_before_tags(source: Tokenizer, masked: MaskedText) -> list[int]:
    """Return the number of source tokens in front of each tag."""
    ends = token_ends(source, masked)
    return [sum(end <= place for end in ends) for place in _tag_places(source, masked)]


def _tag_places(source: Tokenizer, masked: MaskedText) -> list[int]:
    return [len(source.normal(masked.text[: tag.place])) for tag in masked.tags]


def token_places(source: Tokenizer, masked: MaskedText) -> list[range]:
    """Return the source tokens that stand for each masked span."""
    ends = token_ends(source, masked) if masked.units else []
    return [tokens_between(source, masked, ends, unit.start, unit.end) for unit in masked.units]


def tokens_between(source: Tokenizer, masked: MaskedText, ends: Sequence[int], start: int, end: int) -> range:
    """Return the source tokens, which have these ``ends``, that have a part of the text between two places."""
    start, end = (len(source.normal(masked.text[:place])) for place in (start, end))
    first = min(sum(one <= start for one in ends), len(ends) - 1)
    return range(first, max(first, sum(one < end for one in ends)) + 1)


def token_ends(source: Tokenizer, masked: MaskedText) -> list[int]:
    """Return the ends of the source's tokens in its normalised text, without the white space behind them."""
    starts = [start for _, start in source.encode_with_places(masked.text)]
    text = source.normal(masked.text)
    return [start + len(text[start:end].rstrip()) for start, end in pairwise([*starts, len(text)])]


def _without_stand_ins(row: SentenceRequest, hypothesis: Hypothesis) -> Hypothesis:
    """Return a hypothesis that looked at no stand-in, so that none is copied."""
    if not row.places or hypothesis.weights is None:
        return hypothesis
    weights_TS = hypothesis.weights.copy()
    for places in row.places:
        weights_TS[:, places.start : places.stop] = 0
    return replace(hypothesis, weights=weights_TS)


def text_of(target: Tokenizer, ids: Sequence[int], words: Sequence[str], masked: MaskedText) -> str:
    """Return the text of tokens, of which those behind the vocabulary are masked spans; one that is missing comes last.

    ``words`` take the places of the unknown words, in their order; what they do not reach stays unknown. Copies of what
    is kept that the model spelt itself are left out.
    """
    size, units = target.symbols.size, masked.units
    marks = {step: chr(_MARK + number - size) for step, number in enumerate(ids) if number >= size}
    if isinstance(target, WordTokenizer):
        known = [UNK if step in marks else number for step, number in enumerate(ids)]
        given = iter(words)
        filled = [marks.get(step) or next(given, MARKS[UNK]) for step, number in enumerate(known) if number == UNK]
        text = target.decode_with(known, filled)
    else:
        text = _splice(target, ids, marks, units)
    text = _without_copies(text, masked.kept)
    missing = [mark for mark in (chr(_MARK + place) for place in range(len(units))) if mark not in text]
    text = " ".join([text, *missing] if text else missing)
    return text.translate({_MARK + place: unit.text for place, unit in enumerate(units)})


def _without_copies(text: str, kept: Collection[str]) -> str:
    """Return what a model wrote without copies of what comes back anyway; ``15`` is none of ``2015``."""
    if kept:
        pattern = _copies(kept)
        while (shorter := pattern.sub("", text)) != text:
            text = shorter
    return text


def _copies(kept: Collection[str]) -> regex.Pattern[str]:
    return regex.compile(r"\s?(?:\b|(?!\w))\L<kept>(?:\b|(?<!\w))", regex.IGNORECASE, kept=kept)


def _splice(target: Tokenizer, ids: Sequence[int], marks: Mapping[int, str], units: Sequence[MaskedSpan]) -> str:
    """Return tokens that spell words, and between them the marks, with a space where a word would be mutilated."""
    text, start = "", 0
    for step, mark in sorted(marks.items()):
        text = _append(text, target, ids[start:step])
        unit = units[ord(mark) - _MARK]
        sign = text[-1:]
        elided = sign in _APOSTROPHES and is_glued(text[-2:-1])
        if sign.strip() and not elided and (is_glued(sign) or (unit.spaced and target.context_free)):
            text += " "
        text, start = text + mark, step + 1
    return _append(text, target, ids[start:])


def _append(text: str, target: Tokenizer, ids: Sequence[int]) -> str:
    """Return a text and the tokens behind it."""
    more = target.decode(ids)
    apart = text and more and (target.pieces(ids)[0].startswith(SPACE) or is_glued(more[0]))
    return f"{text} {more}" if apart and not more.startswith(" ") else text + more


def tokens_of(pieces: Sequence[str], text: str, kept: Mapping[int, str]) -> list[Token]:
    """Return the tokens of a text by their pieces.

    ``kept`` are placeholders, by the step of the token that is one.
    """
    place, tokens, lost = 0, list[Token](), list[int]()
    for step, piece in enumerate(pieces):
        surface = kept.get(step, piece.strip(SPACE) or piece.replace(SPACE, " "))
        start = text.find(surface, place, place + len(surface) + _NEAR)
        if start < 0:
            lost.append(step)
            tokens.append(Token(piece, place, place, step))
            continue
        if step in kept:
            piece = (SPACE if start == 0 or text[start - 1 : start] == " " else "") + show_text(surface)
        _find_lost(tokens, lost, text, start)
        place = start + len(surface)
        tokens.append(Token(piece, start, place, step))
    _find_lost(tokens, lost, text, len(text))
    return split_at_spaces(tokens)


def split_at_spaces(tokens: Iterable[Token]) -> list[Token]:
    """Return the tokens, those that hold spaces as several of the same step."""
    found = list[Token]()
    for token in tokens:
        first, *others = token.piece.split(" ")
        found.append(token._replace(piece=first))
        found += (Token(SPACE + other, token.end, token.end, token.step) for other in others)
    return found


def _find_lost(tokens: list[Token], lost: list[int], text: str, end: int) -> None:
    """Give the first of the tokens that were not found what is left of the text: what they spell in bytes."""
    if lost:
        start = tokens[lost[0]].start
        rest = text[start:end]
        start += len(rest) - len(rest.lstrip())
        tokens[lost[0]] = tokens[lost[0]]._replace(start=start, end=start + len(rest.strip()))
        for step in lost[1:]:
            tokens[step] = tokens[step]._replace(start=start + len(rest.strip()), end=start + len(rest.strip()))
        lost.clear()


def respace(tokens: Sequence[Token], text: str) -> list[Token]:
    """Return the tokens with their spaces as they are in a text."""
    found, place = list[Token](), 0
    for token in tokens:
        bare = token.piece.strip(SPACE)
        start = text.find(bare, place, place + len(bare) + _NEAR) if bare else -1
        if start >= 0:
            spaced = start == 0 or " " in text[place:start]
            place = start + len(bare)
        else:
            spaced = (place == 0 and bool(bare)) or text.startswith(" ", place)
            place += text.startswith(" ", place)
        found.append(token._replace(piece=SPACE * spaced + bare))
    return found
