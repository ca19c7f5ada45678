"""Where the words and signs of plain text are, for taggers: white space, signs, numbers, and English clitics."""

import re

_TOKEN = re.compile(
    r"""
    \d+(?:[.,:]\d+)+            # 1,000.50  10:30
  | \w+(?=n['’]t\b)             # do|n't
  | n['’]t\b
  | ['’](?:s|m|d|re|ve|ll)\b    # it|'s
  | \w+
  | ([^\w\s])\1*                # ...  !!
    """,
    re.VERBOSE | re.IGNORECASE,
)


def token_places(text: str) -> list[tuple[int, int]]:
    """Where each token begins and ends; white space is in none.

    >>> [("It doesn't cost 1,000...")[a:b] for a, b in token_places("It doesn't cost 1,000...")]
    ['It', 'does', "n't", 'cost', '1,000', '...']
    """
    return [match.span() for match in _TOKEN.finditer(text)]
