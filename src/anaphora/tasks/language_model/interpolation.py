"""An interpolation's experiment: trained runs in one folder, their weights fitted to the validation split."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch

from anaphora.errors import ConfigError
from anaphora.evaluation.stream import stream_components
from anaphora.events import Note, Report
from anaphora.models.interpolation.cache import ComponentPredictions
from anaphora.models.interpolation.model import MEMBERS, Interpolation, InterpolationConfig
from anaphora.models.interpolation.weights import fitted_weights, interpolated
from anaphora.run import Run
from anaphora.tasks.data_table import CUTS
from anaphora.tasks.fitting import FittingJob
from anaphora.tasks.language_model.config import InterpolationExperiment, LanguageModelExperiment
from anaphora.tasks.language_model.training import TextJob
from anaphora.tasks.runs import experiment_of, load_trained
from anaphora.tasks.training_job import TrainingContext
from anaphora.text.tokenizer import Tokenizer


def interpolation_table(runs: Sequence[Path], *, cache: bool = False) -> dict[str, Any]:
    """The tables of an experiment that mixes ``runs``, on the data of the first.

    Raises RunError for what is no run, ConfigError for a run that is no language model.
    """
    found = {name: value for name, value in _begun(str(runs[0])).data.model_dump().items() if name not in CUTS}
    mixture = {"runs": [str(run.absolute()) for run in runs], "cache": "counts" if cache else "none"}
    return {"task": "language-model", "model": "interpolation", "data": found, "interpolation": mixture}


def with_members(experiment: InterpolationExperiment) -> InterpolationExperiment:
    """The experiment with what its runs are, and with their tokenizer.

    Raises as ``interpolation_table``, and ConfigError for an experiment with a tokenizer of its own.
    """
    if experiment.text != InterpolationExperiment.model_fields["text"].default:
        raise ConfigError("An interpolation uses the tokenizer of its runs: leave [text] out.")
    begun = [_begun(run) for run in experiment.interpolation.runs]
    table = experiment.interpolation.model_dump() | {"members": tuple(_member(one) for one in begun)}
    mixture = InterpolationConfig.parse(table, "interpolation")
    return experiment.model_copy(update={"interpolation": mixture, "text": begun[0].text})


class InterpolationJob(FittingJob, TextJob):
    def __init__(self, experiment: InterpolationExperiment, report: Report) -> None:
        super().__init__(experiment, report)
        self._config = experiment.interpolation

    def learn_vocabulary(self, report: Report) -> dict[str, Tokenizer]:
        """The tokenizer that all runs share; ConfigError when they do not."""
        first, *others = self._config.runs
        tokenizers = Run.open(Path(first)).tokenizers()
        for other in others:
            tokenizer = Run.open(Path(other)).tokenizers()["text"]
            if tokenizer.fingerprint != tokenizers["text"].fingerprint:
                raise ConfigError(
                    f"Interpolation needs one vocabulary, but that of {other} ({tokenizer.symbols.size:,} tokens) is "
                    f"not that of {first} ({tokenizers['text'].symbols.size:,}): train one of them with the "
                    f"data and the [text] of the other."
                )
        return tokenizers

    def fit(self, context: TrainingContext, report: Report) -> Mapping[str, float]:
        mixture = cast(Interpolation, context.model)
        for place, path in enumerate(self._config.runs):
            mixture.members[place] = load_trained(Path(path), "best", report).model
        valid = self.valid_ids(context, report)
        found = list(stream_components(mixture, valid[1:].tolist(), int(valid[0])))
        sources = ComponentPredictions(*(torch.cat(parts, dim=1) for parts in zip(*found, strict=True)))
        mixture.weights.copy_(fitted_weights(*sources))
        shares = zip(self._config.component_names, mixture.weights.tolist(), strict=True)
        report(Note("Weights: " + ", ".join(f"{name} {weight:.4f}" for name, weight in shares)))
        loss = -float(interpolated(*sources, mixture.weights).mean())
        return self.metrics(loss, valid)


def _begun(run: str) -> LanguageModelExperiment:
    path = Path(run)
    begun = experiment_of(path)
    if not isinstance(begun, LanguageModelExperiment):
        raise ConfigError(
            f"An interpolation is made of language models, but the task of {path} is {begun.task!r}: leave it out."
        )
    if isinstance(begun, InterpolationExperiment):
        raise ConfigError(f"{path} is an interpolation itself: name its runs, {_listed(begun)}.")
    if not begun.reads_stream:
        raise ConfigError(f"An interpolation reads running text, but {path} is a model of sentences: leave it out.")
    return begun


def _listed(mixture: InterpolationExperiment) -> str:
    return " and ".join(mixture.interpolation.runs)


def _member(begun: LanguageModelExperiment) -> dict[str, object]:
    """The tables of a run's network, and which kind it is."""
    tables = begun.tables()
    return {name: tables[name] for name in MEMBERS[begun.model].model_fields}
