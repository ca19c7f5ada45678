"""Word links of pairs that are given, by an aligner that was learnt from others, and the dictionary that it has."""

from collections import abc
from collections.abc import Iterator

import numpy as np

from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.evaluation.alignment import merge, words_of
from anaphora.events import Progress, Report, Skipped, silent
from anaphora.formats.dictionary import Entry
from anaphora.formats.pharaoh import Links
from anaphora.models.alignment import aligner as models
from anaphora.models.alignment.groups import LONGEST
from anaphora.models.alignment.lexicon import EMPTY
from anaphora.models.alignment.symmetrise import Symmetrise
from anaphora.prediction.arguments import demand_pairs, pieces_of
from anaphora.prediction.stream import windows
from anaphora.text.coder import MARKS, TextCoder
from anaphora.text.words import WordCoder, written


class AlignmentPredictor:
    """Links the words of sentences and their translations."""

    def __init__(self, model: models.Aligner, source: TextCoder, target: TextCoder) -> None:
        """The model and the coders of both sides."""
        self._model = model
        self._source = source
        self._target = target

    def align(
        self,
        sources: abc.Sequence[str],
        targets: abc.Sequence[str],
        *,
        symmetrise: Symmetrise | None = None,
        report: Report = silent,
    ) -> list[Links]:
        """The links between the space-separated words of every pair, in their order.

        Raises DataError for unequal counts, and as ``align_stream``.
        """
        demand_pairs(sources, targets)
        return list(self.align_stream(list(zip(sources, targets, strict=True)), symmetrise=symmetrise, report=report))

    def align_stream(
        self,
        pairs: abc.Iterable[tuple[str, str]],
        *,
        symmetrise: Symmetrise | None = None,
        report: Report = silent,
    ) -> Iterator[Links]:
        """The links of pairs as they come, in order; no more than a window of them is held (``prediction.stream``).

        ``symmetrise`` says how the links of both directions become one set; the run's own way where it is None. A pair
        with a side too long to be looked at has none (a Skipped).
        """
        how = symmetrise or self._model.config.symmetrise
        total, done, longer = len(pairs) if isinstance(pairs, abc.Sized) else 0, 0, 0
        for window in windows(pairs):
            source_rows = [self._source.encode(source) for source, _ in window]
            target_rows = [self._target.encode(target) for _, target in window]
            links = self._model.links(Ragged.of(source_rows), Ragged.of(target_rows), how)
            for (source, target), found, ours, theirs in zip(window, links, source_rows, target_rows, strict=True):
                # pieces of an endless line take long, and it has no links
                yield (
                    merge(
                        found,
                        words_of(pieces_of(self._source, source, ours)),
                        words_of(pieces_of(self._target, target, theirs)),
                    )
                    if found
                    else found
                )
                longer += max(len(ours), len(theirs)) > LONGEST
            done += len(window)
            report(Progress("align", done, total, "pairs"))
        if longer:
            report(Skipped(f"pairs with more than {LONGEST:,} units on a side have no links", longer))

    def dictionary(self, least: float = 0.01) -> Iterator[Entry]:
        """Every source word with its translations of at least the probability ``least``, the likeliest first.

        Raises ConfigError where units are not words.
        """
        if not isinstance(self._source, WordCoder) or not isinstance(self._target, WordCoder):
            raise ConfigError(
                'A dictionary is of whole words, but this aligner cuts text otherwise: set text.units = "word".'
            )
        ours, theirs = written(self._source), written(self._target)
        lexicon = self._model.to_target.lexicon
        sources, targets = lexicon.keys // lexicon.size, lexicon.keys % lexicon.size
        kept = np.flatnonzero((lexicon.probs >= least) & (sources != EMPTY))
        for place in kept[np.lexsort((targets[kept], -lexicon.probs[kept], sources[kept]))].tolist():
            source, target = int(sources[place]), int(targets[place])
            if min(source, target) >= len(MARKS):
                yield Entry(ours[source], theirs[target], float(lexicon.probs[place]))
