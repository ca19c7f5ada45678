"""Unknown words in translations, put in from the source: the word that was looked at most, or its translation.

A translator of whole words writes ``<unk>`` for what its vocabulary lacks, mostly names and numbers, and attention says
which source word it stood for (Jean et al. 2015, section 3.3; Luong et al. 2015, "Addressing the Rare Word Problem").
"""

from collections.abc import Mapping

from anaphora.errors import ConfigError
from anaphora.search.hypothesis import Hypothesis
from anaphora.text.coder import UNK, TextCoder
from anaphora.text.words import WordCoder


class UnknownWords:
    """Fills translations."""

    def __init__(self, source: TextCoder, target: TextCoder, dictionary: Mapping[str, str]) -> None:
        """``dictionary`` translates source words; those that it lacks are copied.

        Raises ConfigError where units are not words, since no others leave whole words unknown.
        """
        if not isinstance(source, WordCoder) or not isinstance(target, WordCoder):
            raise ConfigError(
                "Unknown words can be replaced where text is cut into words, but this translator cuts it otherwise and "
                "spells every word: translate without --replace-unknown."
            )
        self._source = source
        self._target = target
        self._dictionary = dictionary

    def filled(self, text: str, hypothesis: Hypothesis) -> str:
        """The translation of ``text``, with another word for every ``<unk>``; ConfigError without attention."""
        places = [step for step, unit in enumerate(hypothesis.ids) if unit == UNK]
        if not places:
            return self._target.decode(hypothesis.ids)
        if hypothesis.weights is None:
            raise ConfigError(
                "Unknown words are replaced by the source word that attention points to, but this translator has no "
                "attention: translate without --replace-unknown."
            )
        words = self._source.words(text)
        looked = hypothesis.weights[places, : len(words)].argmax(dim=1).tolist()  # not at </s>
        return self._target.filled(hypothesis.ids, [self._translated(words[place]) for place in looked])

    def _translated(self, word: str) -> str:
        return self._dictionary.get(word) or self._dictionary.get(word.lower()) or word
