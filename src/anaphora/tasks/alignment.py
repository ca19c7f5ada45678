"""Word alignment: which words of a sentence and of its translation belong together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, Unpack, cast

import numpy as np

from anaphora.config import SET, Conflict
from anaphora.data.example_store import example_store
from anaphora.data.pairs import pair_fields
from anaphora.data.ragged import Ragged
from anaphora.errors import ConfigError
from anaphora.evaluation.alignment import merge, words_of
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report, Skipped, silent
from anaphora.formats.dictionary import Entry, write_dictionary
from anaphora.formats.pharaoh import Links
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.alignment.groups import LONGEST
from anaphora.models.alignment.lexicon import EMPTY
from anaphora.models.alignment.symmetrise import Symmetrise
from anaphora.models.registry import NETWORKS
from anaphora.prediction.arguments import EncodedSentence, given_pairs, given_text, pieces_of
from anaphora.prediction.limits import UNLIMITED, Count, Limits, Streaming, Watch
from anaphora.prediction.stream import answers
from anaphora.tasks.base import FITTED_CONFLICTS, FittedExperiment, segmented_alike
from anaphora.tasks.data_table import PairData
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.runs import load_as
from anaphora.tasks.task import Task, TrainedModel, both_sides
from anaphora.tasks.training_job import FittingJob, PairJob, TrainingContext
from anaphora.text.tokenization import TextConfig, Word
from anaphora.text.tokenizer import MARKS, Tokenizer
from anaphora.text.words import WordTokenizer, spellings


class AlignmentPredictor:
    """Links the words of sentences and their translations."""

    def __init__(self, model: Aligner, source: Tokenizer, target: Tokenizer) -> None:
        self._model, self._source, self._target = model, source, target

    def align(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        symmetrise: Symmetrise | None = None,
        **streaming: Unpack[Streaming],
    ) -> list[Links]:
        """Return the links between the space-separated words of every pair, in their order.

        Raises DataError for unequal counts, and as ``align_stream``.
        """
        pairs = given_pairs(sources, targets)
        return list(self.align_stream(pairs, symmetrise=symmetrise, **streaming))

    def align_stream(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        symmetrise: Symmetrise | None = None,
        limits: Limits = UNLIMITED,
        report: Report = silent,
    ) -> Iterator[Links]:
        """Yield the links of pairs as they come, in order; no more than a window is held (``prediction.stream``).

        ``symmetrise`` says how the links of both directions become one set; the run's own way where it is None. A pair
        with a side too long to be looked at has none (a Skipped). Raises StoppedError as ``limits`` say.
        """
        how, longer = symmetrise or self._model.config.symmetrization, 0

        def read(pair: tuple[str, str], number: int) -> tuple[EncodedSentence, EncodedSentence]:
            source, target = (given_text(text, number) for text in pair)
            return EncodedSentence(source, self._source.encode(source)), EncodedSentence(
                target, self._target.encode(target)
            )

        def answer(
            rows: Sequence[tuple[EncodedSentence, EncodedSentence]], watch: Watch, answered: Count
        ) -> Iterator[Links]:
            nonlocal longer
            sources, targets = Ragged.of(row.ids for row, _ in rows), Ragged.of(row.ids for _, row in rows)
            for (ours, theirs), found in zip(rows, self._model.align_each(sources, targets, how), strict=True):
                watch.check()
                longer += max(len(ours.ids), len(theirs.ids)) > LONGEST
                # pieces of an endless line take long, and it has no links
                yield merge(found, _words(self._source, ours), _words(self._target, theirs)) if found else found

        yield from answers(pairs, read, answer, task="align", unit="pairs", limits=limits, report=report)
        if longer:
            report(Skipped(f"pairs with more than {LONGEST:,} tokens on a side have no links", longer))

    def dictionary(self, least: float = 0.01) -> Iterator[Entry]:
        """Yield every source word with its translations of at least the probability ``least``, the most probable first.

        Raises ConfigError where tokens are not words.
        """
        if not isinstance(self._source, WordTokenizer) or not isinstance(self._target, WordTokenizer):
            raise ConfigError(
                'A dictionary has words, but the tokens of this aligner are not words: set text.tokenizer = "word".'
            )
        ours, theirs = spellings(self._source), spellings(self._target)
        lexicon = self._model.to_target.lexicon
        sources, targets = lexicon.keys // lexicon.size, lexicon.keys % lexicon.size
        kept = np.flatnonzero((lexicon.probs >= least) & (sources != EMPTY))
        for place in kept[np.lexsort((targets[kept], -lexicon.probs[kept], sources[kept]))].tolist():
            source, target = int(sources[place]), int(targets[place])
            if min(source, target) >= len(MARKS):
                yield Entry(ours[source], theirs[target], float(lexicon.probs[place]))


def _words(tokenizer: Tokenizer, side: EncodedSentence) -> list[int | None]:
    return words_of(pieces_of(tokenizer, side.text, side.ids))


class AlignerExperiment(AlignerModelConfig, FittedExperiment):
    """Word alignments, counted; of ``[training]`` it has use for the seed and threads alone."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *segmented_alike("an aligner"),
        Conflict(
            {"start.run": SET}, "an aligner starts from no other run; let it learn from the old text and the new one"
        ),
        Conflict({"data.shuffle_window": SET}, "an aligner is counted, in any order; leave it out"),
        *FITTED_CONFLICTS,
    )

    task: Literal["align"]
    """Name of the task."""
    data: PairData = PairData()
    """Source of the pairs of sentences."""
    text: TextConfig = Word(size=1_000_000, lowercase=True, segmentation="moses")
    """Tokenizer."""


class AlignerJob(FittingJob, PairJob):
    """Links learnt in one go, where networks are trained update by update."""

    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        aligner, splits, fields = cast(Aligner, context.model), self.splits, pair_fields(context.tokenizers)
        longest, encode = self._experiment.data.max_length, partial(example_store, noun="pair", report=report)
        train = encode(splits.train, fields, context.encoded / "train", longest=longest)
        valid = encode(splits.valid, fields, context.encoded / "valid")
        sources, targets = train.all_rows()
        aligner.fit(sources, targets, report)
        found = aligner.to_target.best(*valid.all_rows())
        loss = -found.log_prob / max(1, found.words)
        return {"loss": loss, "perplexity": perplexity(loss, 1)}


def _export_dictionary(run: Path, output: Path, report: Report) -> None:
    write_dictionary(output, load_as(AlignmentPredictor, run, "an aligner", report).dictionary())


class Alignment(Task):
    """Word alignment."""

    name = "align"
    noun, plural = "an aligner", "aligners"
    experiment, network, job_class = AlignerExperiment, NETWORKS["aligner"], AlignerJob
    on_gpu = False
    see = "see anaphora align"
    next_command = r"printf 'Your text.\tIts translation.\n' | anaphora align {run}"
    example = 'aligner = anaphora.load("{path}")\nprint(aligner.align(["..."], ["..."])[0])'
    exports: ClassVar = {"dictionary": _export_dictionary}

    def predictor(self, trained: TrainedModel) -> AlignmentPredictor:
        source, target = trained.tokenizers["source"], trained.tokenizers["target"]
        return AlignmentPredictor(trained.model, source, target)

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return both_sides(tokenizers, path)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Raise ConfigError: links are measured by ``anaphora align``."""
        raise ConfigError(
            f"{paths[0]} is an aligner: its links are measured by anaphora align {paths[0]} PAIRS --gold LINKS."
        )


TASKS = (Alignment,)
