"""How French words meet: elision (l'homme), contraction (du, aux), and how the result is written."""

import re
from functools import cache

from anaphora.data.grammar.lexicon import ASPIRATED
from anaphora.data.grammar.phrases import Word

WORD = re.compile(r"\w+(?:-\w+)*'?|[^\w\s]")
"""What counts as a word of a French sentence: letters with their hyphens and final apostrophe (l'), or one sign."""

ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


@cache
def begins_with_vowel(word: str) -> bool:
    """Whether a word calls for elision and liaison: a vowel or a mute h."""
    first = word[0].lower()
    return first in "aeiouyàâéèêëîïôœûù" or (first == "h" and word.lower() not in ASPIRATED)


def meet(words: list[Word]) -> list[Word]:
    """Elide before vowels, then contract a preposition with the article that is left."""
    met: list[Word] = []
    before = ""
    for index, (form, meanings) in enumerate(words):
        if form in ELISIONS and begins_with_vowel(words[index + 1][0]):
            form = ELISIONS[form]
        if (before, form) in CONTRACTIONS:
            form, meanings = CONTRACTIONS[before, form], met.pop()[1] + meanings
        met.append((form, meanings))
        before = form
    return met


def surface(words: list[str]) -> str:
    """The sentence as it is written: nothing after an apostrophe, a space before a question mark."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",").replace(" .", ".")
