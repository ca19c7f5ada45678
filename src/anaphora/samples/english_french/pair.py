"""A syntax tree in both languages, with the word alignments of the meanings they share."""

from dataclasses import dataclass

from anaphora.samples.english_french import english, sandhi
from anaphora.samples.english_french.english import English
from anaphora.samples.english_french.french import French
from anaphora.samples.english_french.phrases import Meaning, Sentence, Word

_ENGLISH, _FRENCH = English(), French()


@dataclass(frozen=True, slots=True)
class Pair:
    """An English sentence with its French translation.

    ``links`` are (source word, target word), 0-based and sorted, over ``source_words`` and ``target_words``, where an
    elided form such as "l'", a genitive "'s" and every punctuation sign are words of their own. ``template`` names the
    sequence of constructions.
    """

    source: str
    target: str
    links: tuple[tuple[int, int], ...]
    template: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


def pair(sentence: Sentence, template: str) -> Pair:
    """Realise a tree in both languages and link the words that share a meaning."""
    source, target = _ENGLISH.realise(sentence), sandhi.join(_FRENCH.realise(sentence))
    source_words, target_words = _capitalised(source), _capitalised(target)
    return Pair(
        english.surface(source_words),
        sandhi.surface(target_words),
        _links(source, target),
        template,
        tuple(source_words),
        tuple(target_words),
    )


def _links(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    places: dict[Meaning, list[int]] = {}
    for i, (_, meanings) in enumerate(source):
        for meaning in meanings:
            places.setdefault(meaning, []).append(i)
    return tuple(
        sorted({(i, j) for j, (_, meanings) in enumerate(target) for m in meanings for i in places.get(m, ())})
    )


def _capitalised(words: list[Word]) -> list[str]:
    first, *rest = (form for form, _ in words)
    return [first[0].upper() + first[1:], *rest]
