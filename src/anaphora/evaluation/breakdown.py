"""A test set in groups of sentences: by the length of the source, and by words that training never showed."""

from collections.abc import Iterable, Mapping, Sequence, Set

from anaphora.text.normalise import Lowercase, normalise
from anaphora.text.punctuation import plain_words

Groups = Mapping[str, Sequence[int]]
"""Sentences by the name of their group, in the order they should be shown."""

WIDTH = 10
"""Words between two borders of length."""

LONGEST = 50
"""Sources with more words are one group."""


def words_of_text(text: str, lowercase: Lowercase) -> list[str]:
    """Return the words of a text, without punctuation; in scripts without spaces every letter is one."""
    return plain_words(normalise(text, lowercase=lowercase))


def by_length(sources: Iterable[str]) -> Groups:
    """Sentences by the words between spaces of their source: 0-10, 11-20, .., over 50; empty groups are left out."""
    groups: dict[int, list[int]] = {}
    for number, source in enumerate(sources):
        length = min(len(source.split()), LONGEST + 1)
        groups.setdefault(max(0, length - 1) // WIDTH, []).append(number)
    return {_name(group): groups[group] for group in sorted(groups)}


def by_unknown_words(sources: Iterable[str], known: Set[str], lowercase: Lowercase) -> Groups:
    """Sentences whose source has only words that are ``known`` from training, and those with others."""
    groups: dict[str, list[int]] = {"words seen in training": [], "words new to training": []}
    for number, source in enumerate(sources):
        unknown = any(word not in known for word in words_of_text(source, lowercase))
        groups["words new to training" if unknown else "words seen in training"].append(number)
    return {name: numbers for name, numbers in groups.items() if numbers}


def _name(group: int) -> str:
    low = group * WIDTH + 1
    if low > LONGEST:
        return f"source over {LONGEST} words"
    return f"source {low if group else 0}-{low + WIDTH - 1} words"
