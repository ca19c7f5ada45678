"""Words of held-out parts that the training part never shows, in the memory of the held-out parts' vocabulary.

Words are what punctuation, symbols and spaces leave; in scripts without spaces every letter is one.
"""

import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from anaphora.data.check.findings import SHOWN, Place
from anaphora.text.scripts import UNSPACED, script_of

LARGEST = 100_000
"""Lines of a held-out part whose words are looked up; the rest of a larger part is taken to be alike."""


class _Apart(dict[int, str]):
    """For ``str.translate``: spaces for punctuation and symbols, spaces around letters of scripts without spaces."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.category(character)[0] in "PSZC":
            shown = " "
        elif script_of(character) in UNSPACED:
            shown = f" {character} "
        else:
            shown = character
        self[code] = shown
        return shown


_APART = _Apart()


def words(text: str) -> list[str]:
    """The words of a line, without punctuation."""
    return text.translate(_APART).split()


@dataclass
class Unknown:
    """What of a held-out part's words training does not show."""

    running: int = 0
    """Running words looked up."""
    unknown: int = 0
    """Running words that never occur in training, in any case."""
    in_other_case: int = 0
    """Running words that occur in training in another case only."""
    unknown_places: list[Place] = field(default_factory=list)
    case_places: list[Place] = field(default_factory=list)


class HeldOutWords:
    """The words of one side of the held-out parts; ``shown`` strikes off what training has."""

    def __init__(self, *, lowercase: bool) -> None:
        """With ``lowercase`` all text is lower-cased before it is looked at, as the experiment's coder does."""
        self._lowercase = lowercase
        self._counts: dict[str, Counter[str]] = {}
        self._first: dict[str, dict[str, tuple[Path, int]]] = {}
        self._lines: Counter[str] = Counter()
        self._unseen: set[str] = set()
        self._unseen_folded: set[str] = set()

    def gather(self, part: str, text: str, file: Path, line: int) -> None:
        """Take note of a line of a held-out part; all of them before the first ``shown``."""
        self._lines[part] += 1
        if self._lines[part] > LARGEST:
            return
        found = self._words(text)
        self._counts.setdefault(part, Counter()).update(found)
        first = self._first.setdefault(part, {})
        for word in found:
            first.setdefault(word, (file, line))
        self._unseen.update(found)
        self._unseen_folded.update(map(str.casefold, found))

    def shown(self, text: str) -> None:
        """Strike off the words of a training line."""
        found = self._words(text)
        self._unseen.difference_update(found)
        self._unseen_folded.difference_update(map(str.casefold, found))

    def result(self, part: str) -> Unknown:
        """The figures of a part."""
        result = Unknown()
        for word, count in self._counts.get(part, Counter()).items():
            result.running += count
            if word not in self._unseen:
                continue
            file, line = self._first[part][word]
            if word.casefold() in self._unseen_folded:
                result.unknown += count
                _note(result.unknown_places, Place(file, line, word))
            else:
                result.in_other_case += count
                _note(result.case_places, Place(file, line, word))
        return result

    def _words(self, text: str) -> list[str]:
        composed = unicodedata.normalize("NFC", text)
        return words(composed.lower() if self._lowercase else composed)


def _note(places: list[Place], place: Place) -> None:
    """Keep the first places; words are met in the order of the text."""
    if len(places) < SHOWN:
        places.append(place)
