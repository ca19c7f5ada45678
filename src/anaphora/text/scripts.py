"""Scripts of letters, from their Unicode names: enough to tell a Russian line from an English one."""

import unicodedata
from collections import Counter
from collections.abc import Collection
from functools import cache

_TOGETHER = {
    "HIRAGANA": "Han and kana",
    "KATAKANA": "Han and kana",
    "KATAKANA-HIRAGANA": "Han and kana",
    "HALFWIDTH": "Han and kana",
    "IDEOGRAPHIC": "Han and kana",
    "CJK": "Han and kana",
    "FULLWIDTH": "Latin",
}
"""Scripts that one language writes side by side, and letters named after their width."""

_NO_SCRIPT = frozenset(
    ("MODIFIER", "FEMININE", "MASCULINE", "MICRO", "KELVIN", "OHM", "ANGSTROM", "SUPERSCRIPT", "SUBSCRIPT")
) | frozenset(("MATHEMATICAL", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER", "INFORMATION", "EULER", "VERTICAL"))
"""First words of the names of letters that every script uses."""

UNSPACED = frozenset(("Han and kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"))
"""Scripts that put no space between words."""

_LONGEST = {"Han and kana": 5}
"""Letters that words of a script without spaces have in the mean, at most."""

_LONGEST_ELSEWHERE = 10
"""Those of the other such scripts, whose vowels are letters."""


@cache
def script_of(character: str) -> str:
    """The script of a letter, such as "Latin"; nothing for what is no letter or belongs to all scripts."""
    if not unicodedata.category(character).startswith("L"):
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    return "" if first in _NO_SCRIPT else _TOGETHER.get(first, first.capitalize())


def are_run_together(words: Collection[str]) -> bool:
    """Whether most of these are of scripts without spaces, and longer than words are: so nobody has set spaces."""
    letters = longest = unspaced = 0
    for word in words:
        scripts = Counter(script for script in map(script_of, word) if script)
        if scripts and (script := scripts.most_common(1)[0][0]) in UNSPACED:
            unspaced += 1
            letters += scripts[script]
            longest += _LONGEST.get(script, _LONGEST_ELSEWHERE)
    return 2 * unspaced > len(words) and letters > longest
