"""Unknown words in translations, put in from the source: a copy of the word that they stand for, or its translation.

A translator of whole words writes ``<unk>`` for what its vocabulary lacks, mostly names and numbers. Which source word
it stands for, attention says (Jean et al. 2015, section 3.4), or an annotation that training taught it to write (Luong
et al. 2015, "Addressing the Rare Word Problem").
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from anaphora.errors import ConfigError
from anaphora.prediction.lookup import Lookup
from anaphora.search.hypothesis import Hypothesis
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import MARKS, UNK, Tokenizer
from anaphora.text.words import WordTokenizer


class Filler(Protocol):
    """Replacement of the unknown words of a hypothesis, as far as they can be known."""

    def words(self, text: str, ids: list[int], hypothesis: Hypothesis) -> tuple[list[str], Hypothesis]:
        """Return the word of each ``<unk>`` in the translation of ``text``, and the hypothesis without annotations.

        ``ids`` are those of the text.
        """


def filler(
    source: Tokenizer, target: Tokenizer, dictionary: Mapping[str, str] | None, attends: Callable[[], bool]
) -> Filler | None:
    """Return the filler of unknown words for a translator with these tokenizers, or None.

    ``dictionary`` is None where nobody asked for it; only where somebody did is ``attends`` called. Raises ConfigError
    where it can do nothing: tokens are not words, or the translator does not attend.
    """
    if isinstance(target, AnnotatedTokenizer):
        if dictionary is not None:
            raise ConfigError(
                f"This translator annotates what it does not know (text.rare = '{target.rare}') and fills it in by the "
                f"dictionary of its run: translate without replacing any."
            )
        assert isinstance(source, WordTokenizer)
        return AnnotatedWords(source, target)
    if dictionary is None:
        return None
    words = UnknownWords(source, target, dictionary)
    if not attends():
        raise ConfigError(
            "Unknown words are replaced by the source word that attention points to, but this translator has no "
            "attention: translate without replacing any."
        )
    return words


def demand_unknown(source: Tokenizer, target: Tokenizer) -> None:
    """ConfigError where a translator with these tokenizers never writes ``<unk>``, so that it cannot be left out."""
    _words_of(source, target, "Unknown words can be left out", "leave out --known-words")
    if isinstance(target, AnnotatedTokenizer):
        raise ConfigError(
            f"Unknown words are left out by writing no <unk>, but this translator has text.rare = '{target.rare}' and "
            f"writes them as annotations: evaluate it on all words."
        )


class UnknownWords:
    """Fills in what attention points to."""

    def __init__(self, source: Tokenizer, target: Tokenizer, dictionary: Mapping[str, str]) -> None:
        """``dictionary`` translates source words; those that it lacks are copied.

        Raises ConfigError where tokens are not words, since no others leave whole words unknown.
        """
        self._source, _ = _words_of(source, target, "Unknown words can be replaced", "translate without replacing any")
        self._dictionary = Lookup(dictionary)

    def words(self, text: str, ids: list[int], hypothesis: Hypothesis) -> tuple[list[str], Hypothesis]:
        assert hypothesis.weights is not None
        places = [step for step, token in enumerate(hypothesis.ids) if token == UNK]
        if not places:
            return [], hypothesis
        words = self._source.words(text)
        most, looked = hypothesis.weights[places, : len(words)].max(dim=1)  # not at </s>
        given = [
            translated(words[place], self._dictionary) if weight > 0 else MARKS[UNK]  # a window may see nothing
            for weight, place in zip(most.tolist(), looked.tolist(), strict=True)
        ]
        return given, hypothesis


class AnnotatedWords:
    """Fills in what annotations point to; what they leave open stays ``<unk>``."""

    def __init__(self, source: WordTokenizer, target: AnnotatedTokenizer) -> None:
        """The tokenizers of a translator."""
        self._source = source
        self._target = target
        self._dictionary = Lookup(target.dictionary)

    def words(self, text: str, ids: list[int], hypothesis: Hypothesis) -> tuple[list[str], Hypothesis]:
        resolved, words = self._target.resolved(hypothesis.ids, ids), self._source.words(text)
        given = [translated(words[place], self._dictionary) if place >= 0 else MARKS[UNK] for place in resolved.sources]
        end = [len(hypothesis.ids)] if hypothesis.finished else []
        weights = None if hypothesis.weights is None else hypothesis.weights[[*resolved.steps, *end]]
        evidence = hypothesis.evidence and hypothesis.evidence.of_steps([*resolved.steps, *end])
        return given, replace(hypothesis, ids=tuple(resolved.ids), weights=weights, evidence=evidence)


def translated(word: str, dictionary: Lookup[str]) -> str:
    """The translation of a word, or the word itself.

    An entry in another case that translates the word by itself says that it is copied, and nothing of how it is
    written: a dictionary learnt from lower-cased text has ``berlin`` for ``berlin``.
    """
    exact = dictionary.exact(word)
    if exact is not None:
        return exact
    found = dictionary.find(word)
    return word if found is None or found.lower() == word.lower() else found


def _words_of(source: Tokenizer, target: Tokenizer, able: str, otherwise: str) -> tuple[WordTokenizer, WordTokenizer]:
    """The tokenizers of a translator of words; ConfigError for one of smaller tokens, with what is ``able``."""
    if not isinstance(source, WordTokenizer) or not isinstance(target, WordTokenizer):
        raise ConfigError(
            f"{able} where tokens are words, but this translator has smaller tokens and leaves no word unknown: "
            f"{otherwise}."
        )
    return source, target
