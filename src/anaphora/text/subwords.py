"""Subwords by sentencepiece, byte-pair (Sennrich et al. 2016) or unigram (Kudo 2018), and bytes for what has no token.

Runs of spaces count as one and spaces at the ends as none, and U+2581, by which sentencepiece writes a space, reads as
one; beyond that, and NFC, a line comes back as it was.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Literal, Self

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from anaphora.errors import ConfigError, DataError, RunError
from anaphora.text.normalise import Lowercase, normalise
from anaphora.text.resegmentation import LatticeSampling, MergeDropout, Resegment
from anaphora.text.tokenizer import BOS, EOS, MARKS, PAD, UNK, UNKNOWN, Tokenizer, one_line

_LONGEST_LINE = 4000
"""Characters; sentencepiece leaves out longer lines without a word, so they are split."""

_COVERAGE = 0.9999
"""Fraction of the text's characters that get a token of their own; a large script would otherwise fill the table."""


Kind = Literal["bpe", "unigram"]
"""Subword algorithm."""


class SubwordTokenizer(Tokenizer):
    """A Tokenizer over a sentencepiece model."""

    kind = "bpe"

    context_free = True
    """A line begins as if a space preceded it."""

    def __init__(self, model: bytes, *, lowercase: Lowercase) -> None:
        """``model`` is what sentencepiece trained; RunError when it cannot be read or has other special tokens."""
        self._model = model
        self.lowercase: Lowercase = lowercase
        try:
            self._processor = SentencePieceProcessor(model_proto=model)
        except RuntimeError:
            raise RunError("A subword vocabulary should be a sentencepiece model, but cannot be read as one.") from None
        processor = self._processor
        self._size = processor.get_piece_size()
        marks = (processor.pad_id(), processor.unk_id(), processor.bos_id(), processor.eos_id())
        if marks != (PAD, UNK, BOS, EOS):
            raise RunError(f"A subword vocabulary should number <pad> <unk> <s> </s> as 0 1 2 3, but has {marks}.")

    @classmethod
    def learn(
        cls, lines: Iterable[str], *, size: int, lowercase: Lowercase, byte_fallback: bool, kind: Kind = "bpe"
    ) -> Self:
        """Learn at most ``size`` tokens, special tokens and bytes included; fewer where the text has fewer.

        The same lines in the same order give the same bytes. Raises DataError for a text without characters and
        ConfigError when ``size`` is less than marks, bytes and single characters need.
        """
        usable = _split_long(normalise(line, lowercase=lowercase) for line in lines)
        first = next(usable, None)
        if first is None:
            raise DataError("A subword vocabulary needs text, but every line of the training split is empty.")
        written = io.BytesIO()
        try:
            SentencePieceTrainer.train(
                sentence_iterator=chain([first], usable),
                model_writer=written,
                model_type=kind,
                vocab_size=size,
                hard_vocab_limit=False,  # a small text gives what it has
                byte_fallback=byte_fallback,
                character_coverage=_COVERAGE if byte_fallback else 1.0,
                normalization_rule_name="identity",  # ours is done before, and NFKC would change what people wrote
                max_sentence_length=4 * _LONGEST_LINE,
                num_threads=1,
                minloglevel=2,
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                unk_surface=UNKNOWN,
            )
        except (RuntimeError, ValueError) as error:
            raise _too_small(size, str(error)) from None
        return cls(written.getvalue(), lowercase=lowercase)

    def merge_dropout(self, dropout: float) -> Resegment:
        """Segmentation with BPE-dropout, for a byte-pair vocabulary."""
        return MergeDropout(self._tokens(), dropout)

    def lattice_sampling(self, alpha: float) -> Resegment:
        """Segmentation sampled at ``alpha``, for a unigram vocabulary."""
        tokens = self._tokens()
        scores = {token: self._processor.get_score(number) for token, number in tokens.items()}
        return LatticeSampling(tokens, scores, alpha)

    def _tokens(self) -> dict[str, int]:
        """Return the tokens that spell text, special tokens and bytes left out."""
        processor = self._processor
        numbers = range(len(MARKS), processor.get_piece_size())
        return {processor.id_to_piece(number): number for number in numbers if not processor.is_byte(number)}

    def serialise(self) -> bytes:
        """Return the sentencepiece model."""
        return self._model

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line, without special tokens at the ends."""
        return list(self._processor.encode(self.normal(text)))

    def encode_lines(self, lines: Sequence[str], threads: int) -> list[list[int]]:
        """Encode each line, by as many ``threads``."""
        texts = list(map(self.normal, lines))
        return list(self._processor.encode(texts, num_threads=threads))

    def encode_with_places(self, text: str) -> list[tuple[int, int]]:
        """Return the subwords and where they begin: see ``Tokenizer``.

        A token begins in front of the spaces that it has.
        """
        found = self._processor.encode(self.normal(text), return_type="offset_mapping")
        return [(token, start) for token, (start, _) in zip(found["ids"], found["offsets"], strict=True)]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the line; ``<unk>`` and bytes that are no UTF-8 read as U+FFFD."""
        return one_line(self._processor.decode([int(number) for number in ids]))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens as sentencepiece writes them: U+2581 for a space, ``<0xC3>`` for a byte."""
        return [self._processor.id_to_piece(int(number)) for number in ids]


def _split_long(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not blank, very long ones in pieces."""
    for line in lines:
        if line.strip():
            for start in range(0, len(line), _LONGEST_LINE):
                yield line[start : start + _LONGEST_LINE]


def _too_small(size: int, said: str) -> ConfigError:
    needed = re.search(r"smaller than required_chars\. \d+ vs (\d+)", said)
    if needed:
        return ConfigError(f"text.size = {size} leaves no room for {needed[1]} marks, bytes and characters: raise it.")
    return ConfigError(f"text.size = {size} does not suit this text; sentencepiece says: {said.strip()}")
