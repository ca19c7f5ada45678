"""The experiments of describers."""

from typing import ClassVar, Literal

from pydantic import Field

from anaphora.config import MAX_LENGTH, SET, Conflict
from anaphora.models.describer import DescriberConfig
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import DataConfig
from anaphora.tasks.fitting import segmented_alike
from anaphora.tasks.translation import SearchConfig
from anaphora.text.tokenization import TextConfig, Word
from anaphora.training.best_checkpoint import Better


class CaptionData(DataConfig):
    """Captions, and features of the images that they describe."""

    language: str = "en"
    """Language code of the captions, for tokenizers of words."""
    max_length: int = Field(50, ge=1, le=MAX_LENGTH)
    """Longer captions are left out of training and validation, and none longer is generated; in tokens."""


class DescriberExperiment(DescriberConfig, ExperimentBase):
    """A describer of images."""

    metrics: ClassVar[dict[str, Better]] = {
        "loss": "lower",
        "perplexity": "lower",
        "bleu": "higher",
        "exact_match": "higher",
    }
    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "a describer starts from no other run; leave start.run out"),
        *segmented_alike("a describer"),
        Conflict(
            {"evaluation.validation_beam": SET, "training.metric": ("loss", "perplexity")},
            'validation searches for BLEU and exact match alone; leave it out, or set training.metric = "bleu"',
            written=True,
        ),
    )

    chosen_by_data = ("encoder.rows", "encoder.columns", "encoder.width")

    task: Literal["describe"]
    """Name of the task."""
    data: CaptionData = CaptionData()
    """Captions and features."""
    text: TextConfig = Word()
    """Tokenizer."""
    evaluation: SearchConfig = SearchConfig()
    """Options of the search for descriptions."""
