"""Description: features of an image in, a sentence about it out."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from anaphora.data.captioned import CaptionCorpus, CaptionSplits, caption_corpus, caption_splits
from anaphora.data.fields.grid import ImageGrid
from anaphora.errors import ConfigError
from anaphora.evaluation.descriptions import DescriptionScores, description_scores
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report, silent
from anaphora.models.registry import NETWORKS
from anaphora.models.writers import Describer, DescriberConfig
from anaphora.options import MAX_LENGTH, SET, Conflict
from anaphora.prediction.options import SearchOptions
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase, TextConfig, segmented_alike
from anaphora.tasks.data_table import DataConfig
from anaphora.tasks.describe.predictor import DescriberPredictor
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import Fields, FieldTask, ValidationSplit
from anaphora.tasks.sizing import Tier, figure, tier_for, training_table, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table, Tokenizers
from anaphora.tasks.training_job import mean_loss
from anaphora.tasks.translation.config import SearchConfig
from anaphora.text.tokenization import AnyTokenizer, Word
from anaphora.wording import inflect


class CaptionData(DataConfig):
    """Captions, and features of the images that they describe."""

    language: str = "en"
    """Language code of the captions, for tokenizers of words."""
    max_length: int = Field(50, ge=1, le=MAX_LENGTH)
    """Longer captions are left out of training and validation, and none longer is generated; in tokens."""


class DescriberExperiment(DescriberConfig, ExperimentBase):
    """A describer of images."""

    metrics: ClassVar = {**ExperimentBase.metrics, "bleu": "higher", "exact_match": "higher"}
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


TIERS = (
    Tier(5_000, embedding=64, size=128, dropout=0.3, epochs=60),
    Tier(50_000, embedding=128, size=256, dropout=0.3, epochs=20),
    Tier(200_000, embedding=256, size=512, dropout=0.5, epochs=12),
    Tier(1 << 62, embedding=512, size=512, dropout=0.3, epochs=8),
)


class ImageDescription(FieldTask):
    """Description of images."""

    name = "describe"
    noun, plural = "a describer", "describers"
    experiment, network = DescriberExperiment, NETWORKS["describer"]
    example = 'describer = anaphora.load("{path}")\nprint(describer.predict_file("features.npz")[0].text)'
    example_noun: ClassVar[str] = "caption"
    takes = ("data", "search")
    predictor_class = DescriberPredictor
    counted, tiers = "captions", TIERS

    def splits(self, experiment: DescriberExperiment, report: Report = silent) -> CaptionSplits:
        """Return the splits; errors as for ``data.captioned.caption_splits``."""
        return caption_splits(experiment.data.paths(), experiment.data.names, report)

    def with_data_statistics(self, experiment: DescriberExperiment, splits: Any) -> DescriberExperiment:
        """Return the experiment with the size of the grids of its data; ConfigError where it names another."""
        shape, encoder = splits.features.shape._asdict(), experiment.encoder
        for name, size in shape.items():
            if getattr(encoder, name) not in (0, size):
                raise ConfigError(
                    f"encoder.{name} is {getattr(encoder, name)}, but the features have {size}: set encoder.{name} = "
                    f"{size}, or leave it out."
                )
        return experiment.with_options({f"encoder.{name}": size for name, size in shape.items()})

    def fingerprints(self, splits: Any) -> Mapping[str, str]:
        """Return a SHA-256 of the captions by split, and of the features, every number of which is read."""
        return {**super().fingerprints(splits), "features": splits.features.verify()}

    def fields(self, experiment: Any, tokenizers: Tokenizers, splits: Any = None) -> Fields:
        """Return the features of the image, and its caption."""
        fields = super().fields(experiment, tokenizers)
        if splits is None:
            return fields
        return fields._replace(inputs=ImageGrid("image", splits.features, lambda caption: caption.image))

    def sized_by(self, fields: Fields) -> Sequence[Any]:
        return [fields.targets]

    def longest(self, experiment: Any, training: bool) -> int:
        return int(experiment.data.max_length)

    def longest_row(self, experiment: Any) -> int:
        """Return the positions of the longest caption or grid."""
        return max(int(experiment.data.max_length) + 1, int(experiment.encoder.rows * experiment.encoder.columns))

    def validate(self, valid: ValidationSplit, model: Describer) -> Mapping[str, float]:
        """Return the loss of the validation split; BLEU and exact match of its images where one of them decides."""
        experiment, loss = valid.experiment, mean_loss(model, valid.batches)
        found = {"loss": loss, "perplexity": perplexity(loss, 1)}
        if experiment.training.metric in ("bleu", "exact_match"):
            request = Request(search=SearchOptions(beam=experiment.evaluation.validation_beam))
            scores = self.score(self.predictor_of(model, valid), valid.corpus, request, silent)
            found |= {"bleu": scores.bleu.value, "exact_match": scores.exact_match}
        return found

    def read_requested(self, experiment: DescriberExperiment, request: Request) -> Mapping[str, CaptionCorpus]:
        return {request.data.name: caption_corpus(request.data)} if request.data else {}

    def score(self, model: Any, text: CaptionCorpus, request: Request, report: Report) -> DescriptionScores:
        """Return BLEU and CIDEr-D with several references, and exact match with any."""
        references, beam = text.references(), request.search.beam or model.experiment.evaluation.beam
        found = model.predict_stream([text.features[image] for image in references], beam=beam, report=report)
        texts, language = [description.text for description in found], model.experiment.data.language
        return description_scores(texts, list(references.values()), language=language, beam=beam)

    def metrics(self, scores: DescriptionScores) -> tuple[Metric, ...]:
        how = f"{inflect(scores.count, 'image')}, {inflect(scores.references, 'reference')}, beam {scores.beam}"
        return (
            Metric("BLEU", scores.bleu.value, f"{how}; {scores.bleu.signature}"),
            Metric("CIDEr-D", scores.cider, how),
            Metric("exact match", scores.exact_match, f"{how}, any reference"),
        )

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose the describer for as many captions; DataError for data that cannot be read."""
        found = caption_splits(data.paths, data.names)
        count, shape = found.train.count, found.features.shape
        tier = tier_for(count, TIERS)
        grid = f"{shape.rows} x {shape.columns} x {shape.width}" if shape.positions > 1 else f"{shape.width}"
        return SizedExperiment(_table(tier, shape.positions > 1), f"{inflect(count, 'caption')} (features {grid})")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        attends = " with attention" if value_at(table, "attention") != "none" else ""
        return f"a describer{figure(table, 'decoder.size', ' of {:,} hidden units')}{attends}"


TASKS = (ImageDescription,)
"""Description."""


def _table(tier: Tier, is_grid: bool) -> dict[str, Any]:
    attention = {"query": "previous", "context": "state", "score": "concat", "gate": True, "doubly_stochastic": 0.1}
    return {
        "task": "describe",
        "text": {"tokenizer": "word", "lowercase": True, "size": 20_000, "min_count": 1 if tier is TIERS[0] else 3},
        "embedding": {"size": tier.embedding, "dropout": tier.dropout},
        "encoder": {"size": tier.size, "layer": "tanh" if is_grid else "linear", "positions": is_grid},
        "decoder": {
            "cell": "lstm",
            "size": tier.size,
            "input_feeding": False,
            "initial_state": "mean",
            "initial_state_activation": "tanh",
            "readout_size": tier.embedding,
            "readout_word": True,
            "dropout": tier.dropout,
        },
        "attention": attention if is_grid else "none",
        "training": training_table(tier, 0.001, batch_tokens=1000, patience=5),
        "evaluation": {"beam": 5, "length_penalty": 0.6},
    }
