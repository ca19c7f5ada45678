"""From a run folder to what a person calls."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from anaphora.evaluation.config import TranslationEvaluation
from anaphora.events import Report, silent
from anaphora.models.alignment import aligner as models
from anaphora.pipeline.aligner import Aligner
from anaphora.pipeline.arpa import is_arpa, load_arpa
from anaphora.pipeline.language_model import LanguageModel
from anaphora.pipeline.network import Network, TextNetwork
from anaphora.pipeline.translator import Translator
from anaphora.run import Which
from anaphora.run.loading import load_model
from anaphora.text.sentences import Splitter


def load(run: str | Path, which: Which = "best", *, report: Report = silent) -> Translator | LanguageModel | Aligner:
    """A checkpoint of a run folder, ready to use; RunError when there is none that is whole.

    In place of a run, an ARPA file (``.arpa``, ``.arpa.gz``) is the count model in it; DataError when it is none.
    """
    path = Path(run)
    if is_arpa(path):
        return LanguageModel(*load_arpa(path))
    model, coders, experiment = load_model(path, which, report)
    if isinstance(model, models.Aligner):
        return Aligner(model, coders["source"], coders["target"])
    if experiment["task"] == "language-model":
        return LanguageModel(cast(TextNetwork, model), coders["text"])
    evaluation = TranslationEvaluation.parse(experiment.get("evaluation", {}), str(path / "experiment.toml"))
    return Translator(cast(Network, model), coders["source"], coders["target"], evaluation, _splitter(experiment))


def _splitter(experiment: Mapping[str, Any]) -> Splitter | None:
    """How running text is split for a run; None for one that takes lines whole."""
    if experiment.get("text", {}).get("sentences", "split") == "whole":
        return None
    data = experiment.get("data", {})
    return Splitter(str(data.get("source", "")), str(data.get("target", "")))
