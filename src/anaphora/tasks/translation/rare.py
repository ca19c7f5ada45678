"""The links that annotate a translator's rare words, and the dictionary that fills them in, both by an aligner."""

from collections.abc import Iterator
from itertools import islice
from typing import cast

from anaphora.data.corpora import PairCorpus
from anaphora.data.store import Annotate
from anaphora.events import Report
from anaphora.models.alignment.aligner import BLOCK, by_row
from anaphora.tasks.alignment import AlignmentPredictor
from anaphora.tasks.translation.linked_words import LinkedWords
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.tokenizer import Tokenizer


class RareWords:
    """Rare words of a corpus, by an aligner of the training split, which learns when it is first asked."""

    def __init__(self, words: LinkedWords) -> None:
        self._words = words

    def dictionary(self, report: Report) -> dict[str, str]:
        """The most probable translation of every word of the training split."""
        words = self._words.learnt(report)
        best: dict[str, str] = {}
        for entry in AlignmentPredictor(words.aligner, words.source, words.target).dictionary():
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
        words, pairs = self._words.learnt(report), iter(part)
        while block := list(islice(pairs, BLOCK)):
            sources, targets = words.encoded(block)
            yield from by_row(words.aligner.to_target.best(sources, targets).places, targets)
