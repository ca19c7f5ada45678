"""A task in a folder of its own, which the package knows by one line of its registry: how often letters come."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import torch

from anaphora.config import SET, Conflict
from anaphora.data.columns import Integers
from anaphora.data.corpora import Splits, TextCorpus
from anaphora.data.ragged import token_counts
from anaphora.data.sentences import TextSentences
from anaphora.data.sources import text_splits
from anaphora.data.store import text_store
from anaphora.events import Report
from anaphora.models.registry import Network
from anaphora.prediction.scores import LineScore
from anaphora.prediction.stream import windows
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import TextData
from anaphora.tasks.evaluation import Answer, Request, Scored, one_run
from anaphora.tasks.runs import experiment_of, load
from anaphora.tasks.task import Task, Trained
from anaphora.tasks.work import Begun, UpdatingWork, mean_loss
from anaphora.text.tokenization import Character, TextConfig
from anaphora.text.tokenizer import Tokenizer
from anaphora.training.loop import Validate

from .network import LetterConfig, Letters


class LetterExperiment(LetterConfig, ExperimentBase):
    """How often letters come."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"start.run": SET}, "letters start from no other run; leave start.run out"),
    )

    task: Literal["count-letters"]
    """What is learnt."""
    data: TextData = TextData()
    """Where text comes from."""
    text: TextConfig = Character()
    """Tokenizer."""


class LetterWork(UpdatingWork):
    """Lines of text, and their loss."""

    splits: Splits[TextCorpus]

    def __init__(self, experiment: LetterExperiment, report: Report) -> None:
        data = experiment.data
        self._experiment = experiment
        self.splits = text_splits(data.paths(), data.names, report=report)

    @property
    def longest(self) -> int:
        return 100

    def counts(self, begun: Begun, report: Report) -> Integers:
        train = text_store(self.splits.train, begun.tokenizers["text"], begun.encoded / "train", report=report)
        return token_counts(train.ids, 10)

    def batches(self, begun: Begun, report: Report) -> TextSentences:
        return self._batches(self.splits.train, begun, "train", report)

    def validation(self, begun: Begun, report: Report) -> Validate:
        batches = self._batches(self.splits.valid, begun, "valid", report)

        def validate(model: torch.nn.Module) -> Mapping[str, float]:
            return {"loss": mean_loss(model, batches.epoch(1))}

        return validate

    def _batches(self, corpus: TextCorpus, begun: Begun, split: str, report: Report) -> TextSentences:
        tokenizer = begun.tokenizers["text"]
        store = text_store(corpus, tokenizer, begun.encoded / split, report=report)
        return TextSentences(store, tokenizer.symbols, batch_tokens=begun.training.batch_tokens, seed=1)


@dataclass
class LetterPredictor:
    """Scores lines by their letters."""

    model: Letters
    tokenizer: Tokenizer

    def predict(self, lines: Iterable[str]) -> Iterator[float]:
        for window in windows(lines):
            for line in window:
                yield sum(self.model.log_probs_V()[number].item() for number in self.tokenizer.encode(line))

    def score_lines_of(self, lines: Iterable[str], where: str, report: Report) -> Iterator[LineScore]:
        for nats in self.predict(lines):
            yield LineScore(nats / 2.302585, 1, 0)


@dataclass
class LetterScores:
    """The score of a text."""

    nats: float

    def json(self) -> dict[str, Any]:
        return {"nats": self.nats}

    def __str__(self) -> str:
        return f"nats {self.nats:.3f}"


class LetterCounting(Task):
    """How often letters come."""

    name = "count-letters"
    noun, plural = "a letter counter", "letter counters"
    experiment = LetterExperiment
    network = Network(f"{__name__}.network", "Letters", ("text",))
    see = "see anaphora score"
    next_command = "echo 'Your text.' | anaphora score {run}"
    example = 'letters = anaphora.load("{path}")\nprint(list(letters.predict(["..."])))'

    def work(self, experiment: LetterExperiment, report: Report) -> LetterWork:
        return LetterWork(experiment, report)

    def predictor(self, trained: Trained) -> LetterPredictor:
        return LetterPredictor(cast(Letters, trained.model), trained.tokenizers["text"])

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        return {"text": tokenizers["text"]}

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        path = one_run(paths, self.noun)
        request.refuse(path, self.noun, ())
        splits = LetterWork(cast(LetterExperiment, experiment_of(path)), report).splits
        model = load(path)
        return Answer(
            [Scored(str(path), {part: LetterScores(sum(model.predict(text))) for part, text in splits.tests.items()})]
        )


TASKS = (LetterCounting,)
