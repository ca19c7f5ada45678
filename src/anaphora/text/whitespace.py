"""Words: what stands between white space, whatever a model's tokens are; scores and perplexities are of them.

White space is that of ASCII, as KenLM has it: a no-break space is part of a word.
"""

import re
from bisect import bisect_right

from anaphora.text.tokenizer import Tokenizer

_WORD = re.compile(r"\S+", re.ASCII)


def words_in(text: str) -> list[str]:
    return _WORD.findall(text)


def starts_in(text: str) -> list[int]:
    """Return the begins of these words."""
    return [word.start() for word in _WORD.finditer(text)]


def by_word(tokenizer: Tokenizer, text: str) -> list[list[int]]:
    """Return the ids of every word of a line, and last of what stands behind all words.

    White space is of what comes after it.

    A token belongs to the word in which it begins, even where it goes on into the next.
    """
    ends = [word.end() for word in _WORD.finditer(tokenizer.normal(text))]
    rows: list[list[int]] = [[] for _ in range(len(ends) + 1)]
    for token, start in tokenizer.encode_with_places(text):
        rows[bisect_right(ends, start)].append(token)
    return rows
