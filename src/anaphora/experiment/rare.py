"""The links that annotate a translator's rare words, and the dictionary that fills them in, both by an aligner."""

from typing import cast

from anaphora.data.corpora import PairCorpus
from anaphora.data.ragged import Ragged
from anaphora.data.store import Annotate
from anaphora.events import Report
from anaphora.experiment.schema import PairExperiment
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig, by_row
from anaphora.pipeline.aligner import Aligner as Dictionary
from anaphora.text import units
from anaphora.text.coder import TextCoder
from anaphora.text.rare import AnnotatedCoder
from anaphora.text.units import Word

_EVERY_WORD = 1_000_000
"""Words that the aligner tells apart: none of them is rare to it."""


class RareWords:
    """An aligner of the training part, which learns when it is first asked."""

    def __init__(self, experiment: PairExperiment, train: PairCorpus) -> None:
        """Of ``experiment`` the languages and how words are told apart."""
        self._experiment, self._train = experiment, train
        self._learnt: tuple[TextCoder, TextCoder, Aligner] | None = None

    def dictionary(self, report: Report) -> dict[str, str]:
        """The likeliest translation of every word of the training part."""
        source, target, aligner = self._aligner(report)
        best: dict[str, str] = {}
        for entry in Dictionary(aligner, source, target).dictionary():
            best.setdefault(entry.source, entry.target)
        return best

    def annotate(self, part: PairCorpus, target: TextCoder, report: Report) -> Annotate:
        """What annotates the targets of a part; links are looked for when the first pair is asked for."""
        found: list[list[int]] = []

        def annotated(number: int, source_ids: list[int], target_ids: list[int]) -> list[int]:
            if not found:
                found.extend(self._links(part, report))
            return cast(AnnotatedCoder, target).annotated(source_ids, target_ids, found[number])

        return annotated

    def _links(self, part: PairCorpus, report: Report) -> list[list[int]]:
        """The source word of every target word of a part, -1 for none."""
        source, target, aligner = self._aligner(report)
        sources, targets = Ragged.of(map(source.encode, part.sources())), Ragged.of(map(target.encode, part.targets()))
        return list(by_row(aligner.to_target.best(sources, targets).places, targets))

    def _aligner(self, report: Report) -> tuple[TextCoder, TextCoder, Aligner]:
        if self._learnt is None:
            text, data = cast(Word, self._experiment.text), self._experiment.data
            whole = text.model_copy(update={"size": _EVERY_WORD, "least": 1, "rare": "none"})
            sides = {"source": self._train.sources, "target": self._train.targets}
            languages = {"source": data.source, "target": data.target}
            coders = units.fit(whole, sides, report, languages=languages)
            source, target = coders["source"], coders["target"]
            aligner = Aligner(AlignerModelConfig(), source.symbols, target.symbols)
            sources = Ragged.of(map(source.encode, self._train.sources()))
            aligner.fit(sources, Ragged.of(map(target.encode, self._train.targets())), report)
            self._learnt = source, target, aligner
        return self._learnt
