"""A language model in a run folder, whose layers and word vectors another network takes over."""

from collections.abc import Container, Iterator
from itertools import islice
from pathlib import Path

from anaphora.errors import ConfigError
from anaphora.events import Report
from anaphora.nn.embedding import EmbeddingConfig
from anaphora.run import Run
from anaphora.run.checkpoint import Checkpoint
from anaphora.tasks.language_model.config import RecurrentExperiment
from anaphora.tasks.runs import load_fitting, stored_experiment
from anaphora.text.tokenizer import MARKS
from anaphora.text.words import spellings


class PretrainedRun:
    """The run of a recurrent language model over a table of word vectors."""

    def __init__(self, run: str, purpose: str) -> None:
        """Open the run that the option ``purpose`` names; RunError if it is none, ConfigError if of another kind."""
        self.path = Path(run)
        self._run = Run.open(self.path)
        begun = stored_experiment(self._run)
        if not isinstance(begun, RecurrentExperiment):
            kind = f"model = '{begun.kind}'" if begun.kind else f"task = '{begun.task}'"
            raise ConfigError(
                f"{purpose} needs a recurrent language model, but {self.path} has {kind}: name another run."
            )
        if not isinstance(begun.embedding, EmbeddingConfig):
            raise ConfigError(
                f"{purpose} needs a language model with a table of word vectors, but those of {self.path} are composed "
                f"from characters: name another run."
            )
        self.embedding, self.recurrence, self.reads = begun.embedding, begun.recurrence, begun.reads
        self._tokenizers = self._run.tokenizers()
        self.tokenizer = self._tokenizers["text"]

    def vectors(self, wanted: Container[str], report: Report) -> Iterator[tuple[str, list[float]]]:
        """Yield the vectors that looking up ``wanted`` tokens gives, but no special tokens; errors as for ``load``."""
        rows_VE = self.load(report).model["embedding.weight"] * self.embedding.scale
        for token, vector_E in islice(zip(spellings(self.tokenizer), rows_VE, strict=True), len(MARKS), None):
            if token in wanted:
                yield token, vector_E.tolist()

    def load(self, report: Report) -> Checkpoint:
        """Return its best checkpoint; RunError when there is none that is whole and fits its network."""
        return load_fitting(self._run, self._tokenizers, report=report)
