"""Scripts of letters by their Unicode properties, and the scripts that languages are written in."""

from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path

import regex

from anaphora.languages import bare

_ROWS = Path(__file__).with_name("scripts.tsv").read_text(encoding="utf-8").splitlines()
_LANGUAGES = dict(row.split("\t") for row in _ROWS)
"""The scripts that are told apart, and the languages usually written in each, by their two-letter codes (ISO 639-1)."""

UNSPACED = frozenset(("Han and kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"))
"""Scripts without spaces between words."""
UNSPACED_LETTER = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
"""Pattern of a letter of these."""

_MEAN_LENGTHS = {"Han and kana": 5}
"""Upper bound on the mean word length in a script without spaces, in letters."""

_MEAN_LENGTH = 10
"""Bound for the other such scripts, whose vowels are letters."""


_PROPERTIES = {
    "Han and kana": r"[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]",
    **{script: rf"\p{{script={script}}}" for script in _LANGUAGES if script != "Han and kana"},
    "another script": r"\P{script=Common}",
}
_LETTERS = [(script, regex.compile(rf"(?=\p{{L}}){letters}")) for script, letters in _PROPERTIES.items()]


@cache
def script_of(character: str) -> str:
    """Return the script of a letter, such as "Latin"; empty for other characters and for letters that scripts share."""
    return next((script for script, letter in _LETTERS if letter.match(character)), "")


def main_script(text: str) -> str:
    """Return the script of most letters of a text, as ``script_of``; empty for a text without letters."""
    scripts = Counter[str]()
    for character, count in Counter(text).items():
        scripts[script_of(character)] += count
    del scripts[""]
    return max(scripts, key=scripts.__getitem__, default="")


def scripts_of(language: str) -> frozenset[str]:
    """Return the usual scripts of a language, whatever region its code names; empty for an unknown language."""
    return frozenset(script for script, codes in _LANGUAGES.items() if bare(language) in codes.split())


def are_run_together(words: Collection[str]) -> bool:
    """True if most of these are in scripts without spaces and longer than words, so that the text lacks spaces."""
    letters = expected = unspaced = 0
    for word in words:
        scripts = Counter(filter(None, map(script_of, word)))
        if scripts and (script := scripts.most_common(1)[0][0]) in UNSPACED:
            unspaced += 1
            letters += scripts[script]
            expected += _MEAN_LENGTHS.get(script, _MEAN_LENGTH)
    return 2 * unspaced > len(words) and letters > expected
