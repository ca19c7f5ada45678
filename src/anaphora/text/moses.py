"""Moses punctuation, tokens and case, as the published Multi30k figures were made: for evaluation, never for training.

The order is that of the data set's own ``lc.norm.tok`` files: lower-case, normalise punctuation, tokenise.
"""

from sacremoses import MosesPunctNormalizer, MosesTokenizer


class MosesText:
    """Turns raw text into the space-separated tokens that a published figure was counted on."""

    def __init__(self, language: str, *, lowercase: bool = True) -> None:
        """``language`` is a two-letter code; languages that Moses has no rules for are treated as English."""
        self._lowercase = lowercase
        self._normaliser = MosesPunctNormalizer(lang=language)
        self._tokeniser = MosesTokenizer(lang=language)

    def __call__(self, text: str) -> str:
        """The tokens of one line, joined by single spaces; nothing is escaped."""
        cased = text.lower() if self._lowercase else text
        return str(self._tokeniser.tokenize(self._normaliser.normalize(cased), escape=False, return_str=True))
