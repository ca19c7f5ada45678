"""An aligner of the words of a translator's training split, whatever the translator's own tokens are."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, cast

from anaphora.data.corpora import Pair, PairCorpus
from anaphora.data.example_store import Transform
from anaphora.data.ragged import Ragged
from anaphora.events import Note, Report
from anaphora.models.alignment.aligner import BLOCK, Aligner, AlignerModelConfig, by_row
from anaphora.tasks.alignment import AlignmentPredictor
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.text import tokenization
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.sampling import sample
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer
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
        """Return both sides as ids."""
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
        """Return the aligner, learnt from the training split."""
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

    def dictionary(self, report: Report) -> dict[str, str]:
        """Return the most probable translation of every word of the training split."""
        words = self.learnt(report)
        best: dict[str, str] = {}
        for entry in AlignmentPredictor(words.aligner, words.source, words.target).dictionary():
            best.setdefault(entry.source, entry.target)
        return best

    def annotation(self, part: PairCorpus, target: Tokenizer, report: Report) -> Transform:
        """Return the annotation of rare words in the encoded targets of a part; it is linked when it is encoded."""
        links = self._source_words(part, report)

        def annotated(encoded: list[Ragged]) -> list[Ragged]:
            sources, targets = encoded
            # links last: zip takes none of them for the end of a block
            rows = zip(sources.to_lists(), targets.to_lists(), links, strict=False)
            return [sources, Ragged.of(cast(AnnotatedTokenizer, target).annotated(*row) for row in rows)]

        return annotated

    def _source_words(self, part: PairCorpus, report: Report) -> Iterator[list[int]]:
        """Yield the source word of every target word of a part, -1 for none; no more than a block of pairs is held."""
        words, pairs = self.learnt(report), iter(part)
        while block := list(islice(pairs, BLOCK)):
            sources, targets = words.encoded(block)
            yield from by_row(words.aligner.to_target.best(sources, targets).places, targets)
