"""Sides of a corpus that are in no script of their language: swapped columns, or text of another language."""

from collections.abc import Iterator, Sequence

from anaphora.data.check.findings import Finding
from anaphora.data.check.rules import findings
from anaphora.data.check.side import SideSurvey
from anaphora.text.language import bare

_WRITTEN = {
    "Latin": "aa af ak an ay az bi bm br bs ca ch co cr cs cy da de ee en eo es et eu ff fi fj fo fr fy ga gd gl gn "
    "gv ha ho hr ht hu hz ia id ie ig ik io is it iu jv kg ki kj kk kl kr ku kw la lb lg li ln lt lu lv mg mh mi ms mt "
    "na nb nd ng nl nn no nr nv ny oc oj om pl pt qu rm rn ro rw sc se sg sh sk sl sm sn so sq sr ss st su sv sw tk tl "
    "tn to tr ts tt tw ty uz ve vi vo wa wo xh yo za zu",
    "Cyrillic": "ab av az ba be bg bs ce cu cv kk kv ky mk mn os ru sh sr tg tk tt ug uk uz",
    "Arabic": "ar az fa ff ha kk ks ku ky ms pa ps sd so tg ug ur uz",
    "Devanagari": "bh hi ks mr ne pi sa sd",
    "Han and kana": "ja zh",
    "Hebrew": "he iw ji yi",
    "Greek": "el",
    "Armenian": "hy",
    "Georgian": "ka",
    "Hangul": "ko",
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
    "Canadian": "cr iu oj",
    "Yi": "ii",
}
"""The languages that are usually written in each script, by their codes of two letters (ISO 639-1)."""


def scripts_of(language: str) -> frozenset[str]:
    """The usual scripts of a language, whatever region its code names; none for one that is not in the table."""
    return frozenset(script for script, codes in _WRITTEN.items() if bare(language) in codes.split())


def in_other_scripts(sides: Sequence[SideSurvey]) -> Iterator[Finding]:
    """A finding for every side whose letters are mostly in no script of its language."""
    for side in sides:
        own = scripts_of(side.side)
        others = [other for other in sides if other is not side]
        swapped = any(_mostly(side, other.side) and _mostly(other, side.side) for other in others)
        if own:
            tallies = {"swapped" if swapped else "language": side.scripts.outside(own)}
            yield from findings(side.part, side.side, tallies, side.scripts.letters.total())


def _mostly(side: SideSurvey, language: str) -> bool:
    """Whether most letters of a side are of the scripts of a language."""
    letters = side.scripts.letters
    return 2 * sum(letters[script] for script in scripts_of(language)) > letters.total()
