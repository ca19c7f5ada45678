"""Word alignment: which words of a sentence and of its translation belong together."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, cast

from anaphora.errors import ConfigError
from anaphora.events import Report
from anaphora.formats.dictionary import write_dictionary
from anaphora.models.alignment.aligner import Aligner
from anaphora.models.registry import NETWORKS
from anaphora.tasks.alignment.config import AlignerExperiment
from anaphora.tasks.alignment.data import AlignerWork
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.runs import load_as
from anaphora.tasks.task import Task, Trained, both_sides
from anaphora.text.tokenizer import Tokenizer

__all__ = ["TASKS", "AlignerExperiment", "AlignmentPredictor"]


def _export_dictionary(run: Path, output: Path, report: Report) -> None:
    write_dictionary(output, load_as(AlignmentPredictor, run, "an aligner", report).dictionary())


class Alignment(Task):
    """Word alignment."""

    name = "align"
    noun, plural = "an aligner", "aligners"
    experiment, network = AlignerExperiment, NETWORKS["aligner"]
    on_gpu = False
    see = "see anaphora align"
    next_command = r"printf 'Your text.\tIts translation.\n' | anaphora align {run}"
    example = 'aligner = anaphora.load("{path}")\nprint(aligner.align(["..."], ["..."])[0])'
    exports: ClassVar = {"dictionary": _export_dictionary}

    def work(self, experiment: AlignerExperiment, report: Report) -> AlignerWork:
        return AlignerWork(experiment, report)

    def predictor(self, trained: Trained) -> AlignmentPredictor:
        source, target = trained.tokenizers["source"], trained.tokenizers["target"]
        return AlignmentPredictor(cast(Aligner, trained.model), source, target)

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return both_sides(tokenizers, path)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Raise ConfigError: links are measured by ``anaphora align``."""
        raise ConfigError(
            f"{paths[0]} is an aligner: its links are measured by anaphora align {paths[0]} PAIRS --gold LINKS."
        )


TASKS = (Alignment,)
