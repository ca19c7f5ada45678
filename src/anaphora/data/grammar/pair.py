"""A tree said in both languages, with the links that its meanings give."""

from dataclasses import dataclass

from anaphora.data.grammar import english, french, sandhi
from anaphora.data.grammar.phrases import Meaning, Sentence, Word


@dataclass(frozen=True, slots=True)
class Pair:
    """An English sentence with its French translation.

    ``links`` are (source word, target word), 0-based and sorted, over ``source_words`` and ``target_words``: what
    ``english.WORD`` and ``sandhi.WORD`` find in the sentences, an elided form such as "l'" being a word of its own.
    ``template`` names the sequence of constructions.
    """

    source: str
    target: str
    links: tuple[tuple[int, int], ...]
    template: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]


def pair(sentence: Sentence, template: str) -> Pair:
    """Say a tree in both languages and link the words that share a meaning."""
    source = english.realise(sentence)
    target = sandhi.meet(french.realise(sentence))
    source_words, target_words = _capital(source), _capital(target)
    return Pair(
        source=english.surface(source_words),
        target=sandhi.surface(target_words),
        links=_links(source, target),
        template=template,
        source_words=tuple(source_words),
        target_words=tuple(target_words),
    )


def _links(source: list[Word], target: list[Word]) -> tuple[tuple[int, int], ...]:
    places: dict[Meaning, list[int]] = {}
    for i, (_, meanings) in enumerate(source):
        for meaning in meanings:
            places.setdefault(meaning, []).append(i)
    links = {(i, j) for j, (_, meanings) in enumerate(target) for meaning in meanings for i in places.get(meaning, ())}
    return tuple(sorted(links))


def _capital(words: list[Word]) -> list[str]:
    forms = [form for form, _ in words]
    forms[0] = forms[0][0].upper() + forms[0][1:]
    return forms
