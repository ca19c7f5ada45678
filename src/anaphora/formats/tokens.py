"""Where the words and signs of plain text are, for taggers: white space, signs, numbers, and English clitics.

Scripts without spaces between words are read by characters.
"""

import regex

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_WORD = rf"[\w\p{{No}}--{_UNSPACED}]+"
_SIGN = r"[^\w\p{No}\s\x1c-\x1f][\p{M}\p{Emoji_Modifier}]*"

PATTERN = rf"""(?V1)(?x)
    \d+(?:[.,:]\d+)+                 # 1,000.50  10:30
  | {_UNSPACED}\p{{M}}*
  | {_WORD}(?=(?i:n['’]t)\b)         # do|n't
  | (?i:n['’]t)\b
  | ['’](?i:s|m|d|re|ve|ll)\b       # it|'s
  | {_WORD}
  | ({_SIGN}(?:\u200d{_SIGN})*)\1*  # ...  !!
    """
"""Of one token, for ``regex``."""

_TOKEN = regex.compile(PATTERN)


def token_places(text: str) -> list[tuple[int, int]]:
    """Where each token begins and ends; white space is in none.

    >>> [("It doesn't cost 1,000...")[a:b] for a, b in token_places("It doesn't cost 1,000...")]
    ['It', 'does', "n't", 'cost', '1,000', '...']
    """
    return [match.span() for match in _TOKEN.finditer(text)]
