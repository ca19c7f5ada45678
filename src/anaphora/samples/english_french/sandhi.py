"""French words in contact: elision (l'homme), contraction (du, aux), and spacing."""

from functools import cache

from anaphora.samples.english_french.lexicon import ASPIRATED
from anaphora.samples.english_french.phrases import Word

ELISIONS = {"le": "l'", "la": "l'", "de": "d'", "ne": "n'", "que": "qu'", "je": "j'"}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


@cache
def begins_with_vowel(word: str) -> bool:
    """Whether a word requires elision and liaison: it begins with a vowel or a mute h."""
    first = word[0].lower()
    return first in "aeiouyàâéèêëîïôœûù" or (first == "h" and word.lower() not in ASPIRATED)


def join(words: list[Word]) -> list[Word]:
    """Elide before vowels, then contract a preposition with the article that is left."""
    joined: list[Word] = []
    previous = ""
    for index, (form, meanings) in enumerate(words):
        if form in ELISIONS and begins_with_vowel(words[index + 1][0]):
            form = ELISIONS[form]
        if (previous, form) in CONTRACTIONS:
            form, meanings = CONTRACTIONS[previous, form], joined.pop()[1] + meanings
        joined.append((form, meanings))
        previous = form
    return joined


def surface(words: list[str]) -> str:
    """The sentence with its spaces: none after an apostrophe, one before a question mark."""
    return " ".join(words).replace("' ", "'").replace(" ,", ",").replace(" .", ".")
