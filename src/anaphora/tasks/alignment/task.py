"""Word alignment: which words of a sentence and of its translation belong together."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, cast

from anaphora.data.example_store import example_store
from anaphora.data.pairs import pair_fields
from anaphora.errors import ConfigError
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report
from anaphora.formats.dictionary import write_dictionary
from anaphora.models.alignment.aligner import Aligner, AlignerModelConfig
from anaphora.models.registry import NETWORKS
from anaphora.options import SET, Conflict
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.base import FITTED_CONFLICTS, FittedExperiment, TextConfig, segmented_alike
from anaphora.tasks.data_table import PairData
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.runs import load
from anaphora.tasks.task import Task
from anaphora.tasks.training_job import FittingJob, PairJob, TrainingContext
from anaphora.text.tokenization import Word


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
    write_dictionary(output, load(run, kind=AlignmentPredictor, report=report).dictionary())


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

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Raise ConfigError: links are measured by ``anaphora align``."""
        raise ConfigError(
            f"{paths[0]} is an aligner: its links are measured by anaphora align {paths[0]} PAIRS --gold LINKS."
        )


TASKS = (Alignment,)
