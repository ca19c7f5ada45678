"""Words: what stands between white space, whatever a model's tokens are; scores and perplexities are of them.

White space is that of ASCII, as KenLM has it: a no-break space is part of a word.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable

_WORD = re.compile(r"\S+", re.ASCII)


def words_in(text: str) -> list[str]:
    return _WORD.findall(text)


def by_word(line: str, tokens: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The ids of every word of a line, and last of what stands behind all words; white space is of what comes after it.

    ``tokens`` are ids, each with the place in the line where it begins; it belongs to one word, even where it goes on
    into the next.
    """
    ends = [word.end() for word in _WORD.finditer(line)]
    rows: list[list[int]] = [[] for _ in range(len(ends) + 1)]
    for token, start in tokens:
        rows[bisect_right(ends, start)].append(token)
    return rows
