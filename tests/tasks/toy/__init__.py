"""A task in one file, which the package knows by one line of its registry: how often letters come."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import torch
from pydantic import Field

from anaphora.batch import Batch
from anaphora.config import Config
from anaphora.data.corpora import Splits, TextCorpus
from anaphora.data.fields.tokens import Tokens
from anaphora.data.sources import text_splits
from anaphora.events import Report, silent
from anaphora.models.registry import Network
from anaphora.prediction.scores import LineScore
from anaphora.protocols import Carry, Loss, VocabularyInfo
from anaphora.run.logs import Metric
from anaphora.tasks.base import ExperimentBase, TextConfig
from anaphora.tasks.data_table import TextData
from anaphora.tasks.evaluation import Request
from anaphora.tasks.field_task import Fields, FieldTask
from anaphora.tasks.task import Tokenizers, TrainedModel
from anaphora.text.tokenization import Character


class LettersConfig(Config):
    """Letters."""

    start: float = Field(0.0, ge=0)
    """What every number starts from."""


class LetterExperiment(ExperimentBase):
    """How often letters come."""

    task: Literal["count-letters"]
    """What is learnt."""
    data: TextData = TextData(max_length=100)
    """Where text comes from."""
    text: TextConfig = Character()
    """Tokenizer."""
    letters: LettersConfig = LettersConfig()
    """Letters."""


class Letters(torch.nn.Module):
    """The softmax of one number a letter."""

    def __init__(self, config: Any, text: VocabularyInfo) -> None:
        super().__init__()
        self.config = config
        self.scores = torch.nn.Parameter(torch.zeros(text.size))

    def initialise(self, seed: int) -> None:
        with torch.no_grad():
            self.scores.fill_(self.config.letters.start)

    def log_probs_V(self) -> torch.Tensor:
        return torch.log_softmax(self.scores, 0)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        batch = batch.to(self.scores.device)
        nats_BT = -self.log_probs_V()[batch.target_ids.ids_BT]
        return Loss((nats_BT * batch.target_ids.mask_BT).sum(), batch.predictions), {}


@dataclass
class LetterPredictor:
    """Scores lines by their letters."""

    model: Letters
    text: Tokens

    def predict(self, lines: Iterable[str]) -> Iterator[float]:
        for line in lines:
            yield sum(self.model.log_probs_V()[number].item() for number in self.text.tokenizer.encode(line))

    def score_lines_of(self, lines: Iterable[str], where: str, report: Report) -> Iterator[LineScore]:
        for nats in self.predict(lines):
            yield LineScore(nats / 2.302585, 1, 0)


@dataclass
class LetterScores:
    """The score of a text."""

    nats: float

    def metrics(self) -> tuple[Metric, ...]:
        return (Metric("nats", self.nats, "all lines"),)

    def json(self) -> dict[str, Any]:
        return {"nats": self.nats}

    def __str__(self) -> str:
        return f"nats {self.nats:.3f}"


class LetterCounting(FieldTask):
    """How often letters come."""

    name = "count-letters"
    noun, plural = "a letter counter", "letter counters"
    experiment = LetterExperiment
    network = Network(__name__, "Letters", ("text",))
    see = "see anaphora score"
    next_command = "echo 'Your text.' | anaphora score {run}"
    example = 'letters = anaphora.load("{path}")\nprint(list(letters.predict(["..."])))'
    example_noun: ClassVar[str] = "line"
    takes = ()

    def splits(self, experiment: Any, report: Report = silent) -> Splits[TextCorpus]:
        return text_splits(experiment.data.paths(), experiment.data.names, report=report)

    def fields(self, experiment: Any, tokenizers: Tokenizers, splits: Any = None) -> Fields:
        text = Tokens("text", tokenizers["text"])
        return Fields(text, text)

    def predictor(self, trained: TrainedModel) -> LetterPredictor:
        text = self.fields(trained.experiment, trained.tokenizers).inputs
        return LetterPredictor(cast(Letters, trained.model), cast(Tokens, text))

    def score(self, model: LetterPredictor, text: TextCorpus, request: Request, report: Report) -> LetterScores:
        return LetterScores(sum(model.predict(text)))


TASKS = (LetterCounting,)
