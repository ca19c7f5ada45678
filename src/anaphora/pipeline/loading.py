"""From run folders to what a person calls."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

from anaphora.errors import RunError
from anaphora.evaluation.config import TranslationEvaluation
from anaphora.events import Report, silent
from anaphora.models.alignment import aligner as models
from anaphora.pipeline.aligner import Aligner
from anaphora.pipeline.arpa import is_arpa, load_arpa
from anaphora.pipeline.language_model import LanguageModel
from anaphora.pipeline.translator import Translator
from anaphora.protocols import Searchable, TextModel
from anaphora.run import Which
from anaphora.run.loading import load_model
from anaphora.search.ensemble import Mean
from anaphora.text.sentences import Splitter

Kind = TypeVar("Kind", Translator, LanguageModel, Aligner)

_KINDS = {
    Translator: ("a translator", "see anaphora translate"),
    LanguageModel: ("a language model", "see anaphora generate and evaluate"),
    Aligner: ("an aligner", "see anaphora align"),
}
"""What each is called, and the verbs for it."""


def load(run: str | Path, which: Which = "best", *, report: Report = silent) -> Translator | LanguageModel | Aligner:
    """A checkpoint of a run folder, ready to use; RunError when there is none that is whole.

    In place of a run, an ARPA file (``.arpa``, ``.arpa.gz``) is the count model in it; DataError when it is none.
    """
    path = Path(run)
    if is_arpa(path):
        return LanguageModel(*load_arpa(path), path)
    model, coders, experiment = load_model(path, which, report)
    if isinstance(model, models.Aligner):
        return Aligner(model, coders["source"], coders["target"])
    if experiment["task"] == "language-model":
        return LanguageModel(cast(TextModel, model), coders["text"], path)
    evaluation = TranslationEvaluation.parse(experiment.get("evaluation", {}), str(path / "experiment.toml"))
    data = experiment.get("data", {})
    languages = str(data.get("source", "")), str(data.get("target", ""))
    whole = experiment.get("text", {}).get("sentences", "split") == "whole"
    splitter = None if whole else Splitter(*languages)
    source, target = coders["source"], coders["target"]
    return Translator(cast(Searchable, model).stepper, source, target, evaluation, splitter, languages)


def load_as(kind: type[Kind], run: Path, report: Report = silent) -> Kind:
    """The same of one ``kind``; RunError too when the run holds another kind of model."""
    model = load(run, report=report)
    if not isinstance(model, kind):
        is_a, see = _KINDS[type(model)]
        raise RunError(f"{run} should be {_KINDS[kind][0]}, but is {is_a}: {see}.")
    return model


def load_together(
    runs: Sequence[Path], mean: Mean = "arithmetic", fusion: tuple[Path, float] | None = None, report: Report = silent
) -> Translator:
    """Translators as one, beside the language model of ``fusion``, which counts so much, where there is one.

    Raises RunError for another kind of model, ConfigError where models do not go together.
    """
    translators = [load_as(Translator, run, report) for run in runs]
    together = translators[0] if len(translators) == 1 else Translator.ensemble(translators, mean)
    return together if fusion is None else together.fused(load_as(LanguageModel, fusion[0], report), fusion[1])
