"""An aligner of the words of a translator's training split, whatever the translator's own tokens are."""

from collections.abc import Sequence
from typing import NamedTuple

from anaphora.data.corpora import Pair, PairCorpus
from anaphora.data.ragged import Ragged
from anaphora.events import Note, Report
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.text import tokenization
from anaphora.text.sampling import sample
from anaphora.text.tokenization import Word
from anaphora.text.words import WordTokenizer
from anaphora.wording import counted

_EVERY_WORD = 1_000_000
"""Words that the aligner tells apart: none of them is rare to it."""

_PAIRS = 500_000
"""Pairs that the aligner learns from; of more, an even sample."""


class Linked(NamedTuple):
    """An aligner and the words of both sides."""

    source: WordTokenizer
    target: WordTokenizer
    aligner: Aligner

    def encoded(self, pairs: Sequence[Pair]) -> tuple[Ragged, Ragged]:
        """Both sides as ids."""
        return (
            Ragged.of(self.source.encode(text) for text, _ in pairs),
            Ragged.of(self.target.encode(text) for _, text in pairs),
        )


class LinkedWords:
    """An aligner that learns when it is first asked."""

    def __init__(self, experiment: TranslatorExperiment, train: PairCorpus) -> None:
        """Languages, casing and the segmentation of words are those of ``experiment``."""
        self._experiment, self._train = experiment, train
        self._learnt: Linked | None = None

    def learnt(self, report: Report) -> Linked:
        """The aligner, learnt from the training split."""
        if self._learnt is None:
            own, sides = self._experiment.text, {"source": self._train.sources, "target": self._train.targets}
            text = own if isinstance(own, Word) else Word(lowercase=own.lowercase)
            whole = text.model_copy(update={"size": _EVERY_WORD, "min_count": 1, "rare": "none"})
            tokenizers = tokenization.fit(whole, sides, report, languages=self._experiment.data.languages)
            source, target = tokenizers["source"], tokenizers["target"]
            assert isinstance(source, WordTokenizer) and isinstance(target, WordTokenizer)
            aligner = Aligner(AlignerModelConfig(), source.symbols, target.symbols)
            pairs, count = sample(self._train, _PAIRS)
            if len(pairs) < count:
                report(
                    Note(f"Words are linked by what {len(pairs):,} of {counted(count, 'pair')} show, an even sample.")
                )
            linked = Linked(source, target, aligner)
            aligner.fit(*linked.encoded(pairs), report)
            self._learnt = linked
        return self._learnt
