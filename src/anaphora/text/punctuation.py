"""Punctuation that ends sentences and parts of them, in scripts of many languages, and words without it."""

import unicodedata

from anaphora.text.scripts import UNSPACED, script_of

LATIN_ENDS = ".!?…‽"
"""Ends of sentences in Latin, Greek and Cyrillic script, which others have borrowed; white space follows."""

OTHER_ENDS = "؟۔।॥։።"
"""Ends of Arabic, Devanagari, Armenian and Ethiopic script, which white space follows too."""

UNSPACED_ENDS = "。！？｡။។"
"""Ends that may stand without white space behind them: Chinese and Japanese, Burmese, Khmer."""

PAUSES = "،؛၊፣፤、，：；"
"""Commas, colons and semicolons that are in no Latin text."""


class _Spacing(dict[int, str]):
    """A table for ``str.translate``: spaces for punctuation and symbols, and around letters of unspaced scripts."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] in "PSZC":
            return self.setdefault(code, " ")
        return self.setdefault(code, f" {character} " if script_of(character) in UNSPACED else character)


_SPACING = _Spacing()


def plain_words(text: str) -> list[str]:
    """Return the words of a text, without punctuation and symbols; each letter is one in scripts without spaces."""
    return text.translate(_SPACING).split()
