"""Description: features of an image in, a sentence about it out."""

from typing import cast

from anaphora.models.describer import Describer
from anaphora.models.registry import NETWORKS
from anaphora.tasks.describe import sizing
from anaphora.tasks.describe.config import DescriberExperiment
from anaphora.tasks.describe.data import DescriberWork, settled, splits_of
from anaphora.tasks.describe.evaluation import NOUN, evaluate
from anaphora.tasks.describe.predictor import DescriberPredictor, Description
from anaphora.tasks.task import Kind, Sizing, Task, Trained, by_data, no_vocabulary

__all__ = ["TASK", "DescriberExperiment", "DescriberPredictor", "Description"]


def _predictor(trained: Trained) -> DescriberPredictor:
    experiment, model = cast(DescriberExperiment, trained.experiment), cast(Describer, trained.model)
    return DescriberPredictor(model, trained.tokenizers["text"], experiment, trained.runtime)


TASK = Task(
    name="describe",
    noun=NOUN,
    kinds={
        "": Kind(
            "describers",
            DescriberExperiment,
            NETWORKS["describer"],
            DescriberWork,
            complete=by_data(splits_of, settled),
        )
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="anaphora evaluate {run}",
    example='describer = anaphora.load("{path}")\nprint(describer.predict_file("features.npz")[0].text)',
    tokenizers_of=no_vocabulary(NOUN),
    evaluate=evaluate,
    sizing=Sizing(sizing.choose, sizing.describe, "captions", sizing.TIERS),
)
"""Description."""
