"""Description: features of an image in, a sentence about it out."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from anaphora.events import Report
from anaphora.models.describer import Describer
from anaphora.models.registry import NETWORKS
from anaphora.tasks.describe import sizing
from anaphora.tasks.describe.config import DescriberExperiment
from anaphora.tasks.describe.data import DescriberWork, settled, splits_of
from anaphora.tasks.describe.evaluation import NOUN, evaluate
from anaphora.tasks.describe.predictor import DescriberPredictor, Description
from anaphora.tasks.evaluation import Answer, Request
from anaphora.tasks.task import Task, Trained

__all__ = ["TASKS", "DescriberExperiment", "DescriberPredictor", "Description"]


class ImageDescription(Task):
    """Description of images."""

    name = "describe"
    noun, plural = NOUN, "describers"
    experiment, network = DescriberExperiment, NETWORKS["describer"]
    see = "see anaphora predict"
    next_command = "anaphora evaluate {run}"
    example = 'describer = anaphora.load("{path}")\nprint(describer.predict_file("features.npz")[0].text)'
    counted, tiers = "captions", sizing.TIERS
    choose, describe = staticmethod(sizing.choose), staticmethod(sizing.describe)

    def with_runs(self, experiment: DescriberExperiment, parent: object) -> DescriberExperiment:
        return experiment if experiment.is_settled else settled(experiment, splits_of(experiment))

    def work(self, experiment: DescriberExperiment, report: Report) -> DescriberWork:
        return DescriberWork(experiment, report)

    def predictor(self, trained: Trained) -> DescriberPredictor:
        experiment, model = cast(DescriberExperiment, trained.experiment), cast(Describer, trained.model)
        return DescriberPredictor(model, trained.tokenizers["text"], experiment, trained.runtime)

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        return evaluate(paths, request, report)


TASKS = (ImageDescription,)
