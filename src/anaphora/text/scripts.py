"""Scripts of letters by their Unicode properties, and the scripts that languages are written in."""

from collections import Counter
from collections.abc import Collection
from functools import cache

import regex

from anaphora.text.language import bare

_LANGUAGES = {
    "Latin": "aa af ak an ay az bi bm br bs ca ch co cr cs cy da de ee en eo es et eu ff fi fj fo fr fy ga gd gl gn "
    "gv ha ho hr ht hu hz ia id ie ig ik io is it iu jv kg ki kj kk kl kr ku kw la lb lg li ln lt lu lv mg mh mi ms mt "
    "na nb nd ng nl nn no nr nv ny oc oj om pl pt qu rm rn ro rw sc se sg sh sk sl sm sn so sq sr ss st su sv sw tk tl "
    "tn to tr ts tt tw ty uz ve vi vo wa wo xh yo za zu",
    "Cyrillic": "ab av az ba be bg bs ce cu cv kk kv ky mk mn os ru sh sr tg tk tt ug uk uz",
    "Arabic": "ar az fa ff ha kk ks ku ky ms pa ps sd so tg ug ur uz",
    "Devanagari": "bh hi ks mr ne pi sa sd",
    "Han and kana": "ja zh",
    "Hangul": "ko",
    "Hebrew": "he iw ji yi",
    "Greek": "el",
    "Armenian": "hy",
    "Georgian": "ka",
    "Bengali": "as bn",
    "Gurmukhi": "pa",
    "Gujarati": "gu",
    "Oriya": "or",
    "Tamil": "ta",
    "Telugu": "te",
    "Kannada": "kn",
    "Malayalam": "ml",
    "Sinhala": "si",
    "Thaana": "dv",
    "Thai": "th",
    "Lao": "lo",
    "Khmer": "km",
    "Myanmar": "my",
    "Tibetan": "bo dz",
    "Ethiopic": "am ti",
    "Mongolian": "mn",
    "Canadian Aboriginal": "cr iu oj",
    "Yi": "ii",
    **dict.fromkeys(("Bopomofo", "Cherokee", "Coptic", "Glagolitic", "Gothic", "Javanese", "Lisu", "Nko"), ""),
    **dict.fromkeys(("Ol Chiki", "Runic", "Syriac", "Tifinagh", "Vai"), ""),
}
"""The scripts that are told apart, and the languages usually written in each, by their two-letter codes (ISO 639-1)."""

CODES = frozenset(code for codes in _LANGUAGES.values() for code in codes.split()) | {"yue", "fil", "hsb", "dsb", "ast"}
"""Codes of languages that are known as such."""

UNSPACED = frozenset(("Han and kana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"))
"""Scripts without spaces between words."""

_MEAN_LENGTHS = {"Han and kana": 5}
"""Upper bound on the mean word length in a script without spaces, in letters."""

_MEAN_LENGTH = 10
"""That bound for the other such scripts, whose vowels are letters."""


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
