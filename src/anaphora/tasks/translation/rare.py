"""The links that annotate a translator's rare words, and the dictionary that fills them in, both by an aligner."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import cast

from anaphora.data.corpora import Pair, PairCorpus
from anaphora.data.ragged import Ragged
from anaphora.data.store import Annotate
from anaphora.events import Note, Report
from anaphora.models.alignment.aligner import BLOCK, Aligner, AlignerModelConfig, by_row
from anaphora.tasks.alignment import AlignmentPredictor
from anaphora.tasks.translation.config import TranslatorExperiment
from anaphora.text import tokenization
from anaphora.text.rare import AnnotatedTokenizer
from anaphora.text.sampling import sample
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import counted

_EVERY_WORD = 1_000_000
"""Words that the aligner tells apart: none of them is rare to it."""

_PAIRS = 500_000
"""Pairs that the aligner learns from; of more, an even sample."""


class RareWords:
    """An aligner of the training split, which learns when it is first asked."""

    def __init__(self, experiment: TranslatorExperiment, train: PairCorpus) -> None:
        """Languages and tokenizer are those of ``experiment``."""
        self._experiment, self._train = experiment, train
        self._learnt: tuple[Tokenizer, Tokenizer, Aligner] | None = None

    def dictionary(self, report: Report) -> dict[str, str]:
        """The most probable translation of every word of the training split."""
        source, target, aligner = self._aligner(report)
        best: dict[str, str] = {}
        for entry in AlignmentPredictor(aligner, source, target).dictionary():
            best.setdefault(entry.source, entry.target)
        return best

    def annotate(self, part: PairCorpus, target: Tokenizer, report: Report) -> Annotate:
        """What annotates the targets of a part in their order; links are looked for when a pair is asked for."""
        places = enumerate(self._links(part, report))

        def annotated(number: int, source_ids: list[int], target_ids: list[int]) -> list[int]:
            links = next(found for place, found in places if place == number)
            return cast(AnnotatedTokenizer, target).annotated(source_ids, target_ids, links)

        return annotated

    def _links(self, part: PairCorpus, report: Report) -> Iterator[list[int]]:
        """The source word of every target word of a part, -1 for none; no more than a block of pairs is held."""
        source, target, aligner = self._aligner(report)
        pairs = iter(part)
        while block := list(islice(pairs, BLOCK)):
            sources, targets = _encoded(block, source, target)
            yield from by_row(aligner.to_target.best(sources, targets).places, targets)

    def _aligner(self, report: Report) -> tuple[Tokenizer, Tokenizer, Aligner]:
        if self._learnt is None:
            text, data = cast(Word, self._experiment.text), self._experiment.data
            whole = text.model_copy(update={"size": _EVERY_WORD, "min_count": 1, "rare": "none"})
            sides = {"source": self._train.sources, "target": self._train.targets}
            tokenizers = tokenization.fit(whole, sides, report, languages=data.languages)
            source, target = tokenizers["source"], tokenizers["target"]
            aligner = Aligner(AlignerModelConfig(), source.symbols, target.symbols)
            pairs, count = sample(self._train, _PAIRS)
            if len(pairs) < count:
                report(
                    Note(
                        f"Rare words are linked by what {len(pairs):,} of {counted(count, 'pair')} show, an even "
                        f"sample."
                    )
                )
            aligner.fit(*_encoded(pairs, source, target), report)
            self._learnt = source, target, aligner
        return self._learnt


def _encoded(pairs: Sequence[Pair], source: Tokenizer, target: Tokenizer) -> tuple[Ragged, Ragged]:
    """Both sides as ids."""
    return Ragged.of(source.encode(text) for text, _ in pairs), Ragged.of(target.encode(text) for _, text in pairs)
