"""Word alignment: which words of a sentence and of its translation belong together."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

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
from anaphora.tasks.task import Kind, Task, Trained, both_sides

__all__ = ["TASK", "AlignerExperiment", "AlignmentPredictor"]


def _predictor(trained: Trained) -> AlignmentPredictor:
    return AlignmentPredictor(cast(Aligner, trained.model), trained.tokenizers["source"], trained.tokenizers["target"])


def _evaluate(paths: Sequence[Path], request: Request, report: Report) -> Answer:
    raise ConfigError(
        f"{paths[0]} is an aligner: its links are measured by anaphora align {paths[0]} PAIRS --gold LINKS."
    )


def _export_dictionary(run: Path, output: Path, report: Report) -> None:
    write_dictionary(output, load_as(AlignmentPredictor, run, "an aligner", report).dictionary())


TASK = Task(
    name="align",
    noun="an aligner",
    kinds={
        "": Kind(
            "aligners",
            AlignerExperiment,
            NETWORKS["aligner"],
            AlignerWork,
            on_gpu=False,
            exports={"dictionary": _export_dictionary},
        )
    },
    predictor=_predictor,
    see="see anaphora align",
    next_command=r"printf 'Your text.\tIts translation.\n' | anaphora align {run}",
    example='aligner = anaphora.load("{path}")\nprint(aligner.align(["..."], ["..."])[0])',
    tokenizers_of=both_sides,
    evaluate=_evaluate,
)
"""Word alignment."""
