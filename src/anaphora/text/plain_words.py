"""Words without punctuation, to be counted and compared."""

import unicodedata

from anaphora.text.scripts import UNSPACED, script_of


class _Spacing(dict[int, str]):
    """For ``str.translate``: spaces for punctuation and symbols, spaces around letters of scripts without spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] in "PSZC":
            return self.setdefault(code, " ")
        return self.setdefault(code, f" {character} " if script_of(character) in UNSPACED else character)


_SPACING = _Spacing()


def plain_words(text: str) -> list[str]:
    """The words of a text, without punctuation and symbols; each letter is one in scripts without spaces."""
    return text.translate(_SPACING).split()
