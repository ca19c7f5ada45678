"""Calibration of a translator: confidence fitted to how good its translations of held-out pairs are."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from anaphora.data.corpora import AlignedFiles, Pair
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.bleu import sentence_scores
from anaphora.evaluation.classification import area_under_curve, calibration_error
from anaphora.evaluation.logistic import Logistic
from anaphora.evaluation.strings import in_common
from anaphora.events import Report, silent
from anaphora.files import sha256
from anaphora.kernels.backends import InferencePrecision
from anaphora.kernels.device import Device
from anaphora.kernels.runtime import Runtime
from anaphora.prediction.options import SearchOptions
from anaphora.run import calibrations
from anaphora.run.calibrations import Calibration, Fitted, Measured
from anaphora.run.weights import serialise, tensors_of
from anaphora.search.hypothesis import Floats
from anaphora.tasks.evaluation import check_found
from anaphora.tasks.runs import experiment_of, load_as
from anaphora.tasks.training_job import pair_splits
from anaphora.tasks.translation.confidence import GOOD, VERSION, Confidence, settings_of
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.translation import Signals
from anaphora.text.normalise import lowercase_of, normalise
from anaphora.wording import counted

LEAST = 100
"""Minimum number of pairs."""

_USUAL = SearchOptions()


class _Judged(NamedTuple):
    """A translation, and what is right of it."""

    signals: Signals
    good: bool
    words: Sequence[bool]


class RunCalibrations:
    """The calibrations of one run folder for the weights of a loaded network."""

    def __init__(self, path: Path, model: torch.nn.Module) -> None:
        self._path, self._model = path, model

    @cached_property
    def weights(self) -> str:
        """SHA-256 of the weights."""
        return sha256(serialise({name: tensor.cpu() for name, tensor in tensors_of(self._model).items()}))

    def __call__(self, options: SearchOptions, runtime: Runtime) -> Confidence:
        """The confidence of a resolved search; ConfigError where it was not calibrated, with what to do.

        Clients of a server read its message, so that it does not name the folder.
        """
        there, settings = calibrations.read(self._path), settings_of(options, runtime)
        remedy = "run anaphora calibrate RUN with the same search options and precision"
        if not there:
            raise ConfigError(f"The run has no calibrated confidence: {remedy}.")
        own = [one for one in there if one.weights == self.weights and one.version == VERSION]
        if not own:
            raise ConfigError(f"The confidence was calibrated for other weights: {remedy}.")
        for one in own:
            if one.settings == settings:
                return Confidence(*(Logistic(**fitted.model_dump()) for fitted in (one.sentence, one.word)))
        others = "; ".join(described(one.settings) for one in own)
        raise ConfigError(f"The confidence was calibrated for {others}, but not for {described(settings)}: {remedy}.")


def described(settings: Any) -> str:
    """The settings of a calibration in words, those that are off left out."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items() if value)


def calibrate(
    path: Path,
    files: tuple[Path, Path] | None = None,
    options: SearchOptions = _USUAL,
    device: Device = "cpu",
    precision: InferencePrecision = "fp32",
    report: Report = silent,
) -> Calibration:
    """Fit the confidence of a run's translations, measure it on other pairs, and store it in the run folder.

    The pairs are those of two ``files``, source and reference, or of the run's validation split. A hash of the source
    says which half a pair belongs to, so that no source is in both. Raises RunError for another kind of model,
    DataError for fewer than ``LEAST`` pairs, and as ``TranslationPredictor.stream``.
    """
    translator = load_as(TranslationPredictor, path, "a translator", report, device, precision)
    experiment = cast(TranslationExperiment, experiment_of(path))
    if files is None:
        check_found(path, experiment, "--source and --reference")
    pairs = list(AlignedFiles(*files) if files else pair_splits(experiment, report).valid)
    if len(pairs) < LEAST:
        raise DataError(
            f"Calibration needs at least {counted(LEAST, 'pair')}, but there are {len(pairs):,}: give more with "
            f"--source and --reference."
        )
    resolved = options.resolved(translator.evaluation.beam, translator.evaluation.length_penalty)
    judged = _judged(translator, experiment, pairs, resolved._replace(signals=True), report)
    halves: tuple[list[_Judged], list[_Judged]] = ([], [])
    for (source, _), one in zip(pairs, judged, strict=True):
        if one is not None:
            halves[_half(source)].append(one)
    if not all(halves):
        raise DataError("Calibration needs different sources, but these are all alike or empty: give other pairs.")
    fitting, reporting = ((_sentences(half), _words(half)) for half in halves)
    functions = [Logistic.fit(*examples) for examples in fitting]
    found = Calibration(
        settings=dict(settings_of(resolved, translator.runtime)),
        weights=cast(RunCalibrations, translator.calibrated).weights,
        version=VERSION,
        fitted_on=len(halves[0]),
        sentence=Fitted(**asdict(functions[0])),
        word=Fitted(**asdict(functions[1])),
        measured={
            name: _measured(function, *examples)
            for name, function, examples in zip(("sentences", "words"), functions, reporting, strict=True)
        },
    )
    calibrations.add(path, found)
    return found


def _judged(
    translator: TranslationPredictor,
    experiment: TranslationExperiment,
    pairs: Sequence[Pair],
    options: SearchOptions,
    report: Report,
) -> list[_Judged | None]:
    """Return the features of every pair; None for one with nothing to translate."""
    sources, references = ([pair[side] for pair in pairs] for side in (0, 1))
    found = translator.translate(sources, options, report=report)
    language, condition = experiment.data.target, experiment.evaluation.conditions
    scores = sentence_scores([one.text for one in found], references, language=language, condition=condition)
    lowercase = lowercase_of(experiment.text.lowercase, language)
    judged: list[_Judged | None] = []
    for translation, reference, score in zip(found, references, scores, strict=True):
        words, its = (normalise(text, lowercase=lowercase).split() for text in (translation.text, reference))
        signals = translation.signals
        usable = signals is not None and signals.sentence and len(words) == len(signals.words)
        judged.append(_Judged(signals, score["chrF2"] >= GOOD, in_common(words, its)) if signals and usable else None)
    return judged


def _half(source: str) -> int:
    """0 to fit, 1 to measure."""
    return blake2b(source.encode(), digest_size=1).digest()[0] & 1


def _sentences(half: Iterable[_Judged]) -> tuple[Floats, Floats]:
    """Features and labels of sentences."""
    rows = [(one.signals.sentence, one.good) for one in half]
    return np.array([features for features, _ in rows]), np.array([float(good) for _, good in rows])


def _words(half: Iterable[_Judged]) -> tuple[Floats, Floats]:
    """Features and labels of the words that were written."""
    rows = [
        (features, right)
        for one in half
        for features, right in zip(one.signals.words, one.words, strict=True)
        if features is not None
    ]
    return np.array([features for features, _ in rows]), np.array([float(right) for _, right in rows])


def _measured(function: Logistic, features_NF: Floats, labels_N: Floats) -> Measured:
    probabilities_N = function.probabilities(features_NF)
    return Measured(
        examples=len(labels_N),
        positive=float(labels_N.mean()),
        area=area_under_curve(probabilities_N, labels_N),
        calibration_error=calibration_error(probabilities_N, labels_N),
    )
