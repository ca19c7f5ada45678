r"""Rules of reading a text: white space, invisible characters, and texts with nothing to translate.

White space within a line is one space. What cannot be seen is nothing: control characters, soft hyphens, word joiners,
marks of byte order and direction. A zero-width space between words is a space, and nothing in scripts that set no
spaces. U+200C and U+200D stay beside letters that they shape (Persian, Indic scripts) and beside pictures.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

SPACES = "".join(code for code in map(chr, range(0x3001)) if code.isspace() and code != " ")
"""White space, but for the space."""
CONTROLS = "".join(code for code in map(chr, (*range(32), *range(127, 160))) if not code.isspace())
_FORMATS = (*range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x2070), *range(0xFFF9, 0xFFFC))
UNSEEN = CONTROLS + "".join(map(chr, (0xAD, 0x61C, 0x200E, 0x200F, *_FORMATS, 0xFEFF)))
"""Characters without a shape or a width."""
BREAK, _DOUBLE, _JOINERS = "\u200b", "  ", "\u200c\u200d"

_SHAPED = (
    "\u0600-\u109f\u1700-\u1cff\u2190-\u2bff\ua800-\uabff\ufb50-\ufdff\ufe0e\ufe0f\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e800-\U0001faff"
)
"""Arabic and related scripts, Indic ones, pictures, and the marks that make pictures."""
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_INSIDE = r"\s/\\_@#&=" + _UNSPACED
"""Characters beside which a zero-width space is no space, but a place to break a long word or an address."""
_BETWEEN_WORDS = rf"(?<=[^(\[{{“„«¿¡{_INSIDE}-]){BREAK}+(?=[^.,;:!?…)\]}}”»%{_INSIDE}-])"


@dataclass(frozen=True)
class TextRule:
    """Rule of reading the texts of one side; a run keeps the rule that it was begun with."""

    kept: Collection[str] = ()
    """Special characters that are read as they are; with a space, runs of spaces too."""
    copies: bool = False
    """True if a text without a word, such as a number, is its own translation."""

    @cached_property
    def substitutions(self) -> list[tuple[re.Pattern[str], str]]:
        """Patterns and what is put for them, in this order."""
        unseen, spaces, joiners, broken, double = (
            "".join(code for code in some if code not in self.kept) for some in (UNSEEN, SPACES, _JOINERS, BREAK, " ")
        )
        found = (
            (unseen, f"[{unseen}]", ""),
            (joiners, rf"(?<![{_SHAPED}])[{joiners}](?![{_SHAPED}])", ""),
            (broken, _BETWEEN_WORDS, " "),
            (broken, BREAK, ""),
            (spaces, f"[{spaces}]", " "),
            (double, f"{_DOUBLE}+", " "),
        )
        return [(re.compile(pattern), put) for applies, pattern, put in found if applies]

    def plain(self, text: str) -> str:
        """Return a text as a model reads it."""
        if not text.isprintable() or _DOUBLE in text:
            for pattern, put in self.substitutions:
                text = pattern.sub(put, text)
        return text


def in_lines(lines: Callable[[], Iterator[str]], rule: TextRule | None, separator: str) -> Callable[[], Iterator[str]]:
    """Return a text whose lines are by the rule, as far as the first ``separator``."""
    if rule is None:
        return lines
    return lambda: (rule.plain(text) + tab + rest for text, tab, rest in (one.partition(separator) for one in lines()))


def are_converted(sources: Iterable[str], targets: Iterable[str]) -> bool:
    """True if pairs teach to translate numbers: one in a hundred has digits without a letter, and another target."""
    found = Counter(
        not any(map(str.isalpha, source)) and any(map(str.isnumeric, source)) and source.split() != target.split()
        for source, target in zip(sources, targets, strict=False)
    )
    return 100 * found[True] > found.total()
