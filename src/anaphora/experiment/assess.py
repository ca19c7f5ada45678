"""How good a run is, under the conditions that its experiment names: on given text, or on its own test parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.data.corpora import AlignedFiles, Pair
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import Condition, Score, bleu, chrf
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Report, silent
from anaphora.experiment.conduct import experiment_of
from anaphora.experiment.language_model import language_model_parts
from anaphora.experiment.schema import Experiment, TranslationExperiment
from anaphora.experiment.translation import pair_parts
from anaphora.formats.lines import read_lines
from anaphora.pipeline import LanguageModel, Translator, load


@dataclass(frozen=True)
class TranslationScores:
    """How good the translations of one part are."""

    sentences: int
    beam: int
    length_penalty: float
    scores: Mapping[Condition, tuple[Score, Score]]
    """BLEU and chrF of the text as it is, and under the conditions that the experiment names."""

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        conditions: dict[str, Any] = {
            condition: {"bleu": bleu.json(), "chrf": chrf.json()} for condition, (bleu, chrf) in self.scores.items()
        }
        return {
            "sentences": self.sentences,
            "beam": self.beam,
            "length_penalty": self.length_penalty,
            **conditions,
        }

    def __str__(self) -> str:
        return "\n".join([str(score) for both in self.scores.values() for score in both] + [self._search()])

    def _search(self) -> str:
        penalty = f", length penalty {self.length_penalty:g}" if self.length_penalty else ""
        return f"{self.sentences:,} sentences, beam {self.beam}{penalty}"


def assess(
    path: Path,
    *,
    pairs: tuple[Path, Path] | None = None,
    text: Path | None = None,
    beam: int | None = None,
    length_penalty: float | None = None,
    report: Report = silent,
) -> dict[str, TranslationScores | Prediction]:
    """Figures by part: of ``pairs`` (a source and its reference), of a ``text``, or of the run's own test parts.

    ``beam`` and ``length_penalty`` are the run's own where they are None. Raises ConfigError for pairs given to a
    language model and the other way round, DataError for files that are not what they should be, RunError for the
    folder.
    """
    model, experiment = load(path, report=report), experiment_of(path)
    if isinstance(model, Translator) and isinstance(experiment, TranslationExperiment):
        if text is not None:
            raise ConfigError(f"{path} is a translator: it is scored on --source and --reference, not on --text.")
        given = {pairs[0].name: AlignedFiles(*pairs)} if pairs else pair_parts(experiment, report).tests
        return {
            part: score_translations(model, corpus, experiment, beam=beam, length_penalty=length_penalty, report=report)
            for part, corpus in _not_empty(given, "--source and --reference").items()
        }
    assert isinstance(model, LanguageModel)
    if pairs is not None:
        raise ConfigError(f"{path} is a language model: it is scored on --text, not on --source and --reference.")
    texts = {text.name: read_lines(text)} if text else _test_texts(experiment, report)
    return {part: model.evaluate(lines, report=report) for part, lines in _not_empty(texts, "--text").items()}


def score_translations(
    translator: Translator,
    pairs: Iterable[Pair],
    experiment: TranslationExperiment,
    *,
    beam: int | None = None,
    length_penalty: float | None = None,
    report: Report = silent,
) -> TranslationScores:
    """BLEU and chrF of a translator on pairs, raw and as the experiment says; defaults as for ``assess``."""
    sources, references = [], []
    for source, reference in pairs:
        sources.append(source)
        references.append(reference)
    size = translator.evaluation.beam if beam is None else beam
    penalty = translator.evaluation.length_penalty if length_penalty is None else length_penalty
    found = translator.translate(sources, beam=size, length_penalty=penalty, report=report)
    outputs = [output.text for output in found]
    language, scores = experiment.data.target, {}
    conditions: tuple[Condition, ...] = ("raw", experiment.evaluation.conditions)
    for condition in conditions:
        scores[condition] = (
            bleu(outputs, references, language=language, condition=condition),
            chrf(outputs, references, language=language, condition=condition),
        )
    return TranslationScores(len(outputs), size, penalty, scores)


def _test_texts(experiment: Experiment, report: Report) -> Mapping[str, Iterable[str]]:
    assert not isinstance(experiment, TranslationExperiment)
    return language_model_parts(experiment, report).tests


def _not_empty(parts: Mapping[str, Any], options: str) -> Mapping[str, Any]:
    if not parts:
        raise DataError(f"The run's data has no test part: give one with {options}.")
    return parts
