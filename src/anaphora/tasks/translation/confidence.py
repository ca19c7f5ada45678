"""Confidence of translations: from what a model says of their tokens to calibrated probabilities.

Both probabilities are logistic regressions on a few features, fitted by ``anaphora calibrate``. That of a sentence is
the probability that no or one word of it has to be edited, that of a transducer's string that it is an answer of its
input;
that of a word, that its reference has the word in the same order.
"""

import re
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np

from anaphora.errors import ConfigError, DataError, MissingExtraError
from anaphora.evaluation.classification import area_under_curve, calibration_error
from anaphora.evaluation.strings import edit_distance, in_common
from anaphora.events import Note, Report, silent
from anaphora.kernels.runtime import Runtime
from anaphora.languages import is_unspaced
from anaphora.prediction.options import SearchOptions
from anaphora.run import calibrations
from anaphora.run.calibrations import Calibration, CalibrationQuality, LogisticRegression
from anaphora.run.layout import check_writable
from anaphora.search.hypothesis import Evidence, Floats
from anaphora.tasks.translation.translation import Signals, Token, Translation
from anaphora.text.normalise import lowercase_of, normalise
from anaphora.text.quality import without_placeholders
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.data.corpora import Pair
    from anaphora.tasks.translation.predictor import TranslationPredictor

VERSION = 2
"""Version of the features and of what they are fitted to; 1 was fitted to a chrF2 of at least 50."""

SHORT = 3
"""Words of a reference that leave no word to edit; of more, one may be."""

LEAST = 100
"""Minimum number of pairs to calibrate with."""

_WORD = re.compile(r"\S+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_ALPHANUMERICS, _CHARACTER = re.compile(r"\w+"), re.compile(r"\w")
_PAIRS, _KNOWN = 200_000, 60_000
"""Training pairs whose words are known, and words of a side, the most frequent ones."""
_USUAL = SearchOptions()


_RIDGE = 1.0
"""Strength of the penalty on squared weights, which count standardized features."""
_STEPS = 100


def signals_of(evidence: Evidence, source: int, text: str, tokens: Sequence[Token]) -> Signals:
    """Return the features of a translation and of its words.

    ``source`` counts the tokens of the source, and ``tokens`` are those of ``text``. A word that no step wrote has
    none.
    """
    signals_TE = evidence.signals_TE
    own = [_of_word(signals_TE, steps) if steps else None for steps in _steps_of_words(text, tokens)]
    ln_p, entropy, margin, attention = signals_TE.T
    sentence = (
        *(ln_p.mean(), ln_p.min(), ln_p.std(), entropy.mean(), entropy.max(), margin.mean(), (ln_p < -1).mean()),
        *(np.log(len(ln_p)), np.log(len(ln_p) / (source + 1)), attention.mean(), evidence.coverage),
    )
    return Signals(tuple(map(float, sentence)), tuple(own))


def _of_word(signals_TE: Floats, steps: Sequence[int]) -> tuple[float, ...]:
    """Return the features of a word that some steps wrote: of itself, of its neighbours and of the sentence."""
    ln_p, entropy, margin, attention = signals_TE[list(steps)].T
    before, after = (max(0, steps[0] - 1), min(len(signals_TE) - 1, steps[-1] + 1))
    around = (signals_TE[before, 0], signals_TE[after, 0], signals_TE[after, 1])
    whole = (signals_TE[:, 0].mean(), signals_TE[:, 1].mean(), np.log(len(signals_TE)))
    itself = (ln_p.sum(), ln_p.min(), entropy.max(), entropy[0], margin.min(), attention.mean(), np.log(len(steps)))
    return tuple(map(float, (*itself, *around, *whole)))


def _steps_of_words(text: str, tokens: Sequence[Token]) -> list[list[int]]:
    """Return the steps that wrote each word of a text; words are what stands between white space."""
    spans = [match.span() for match in _WORD.finditer(text)]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    found: list[list[int]] = [[] for _ in spans]
    for token in tokens:
        # a token without letters of its own is behind what it belongs to
        word = bisect_right(ends, token.start) if token.end > token.start else bisect_left(ends, token.start)
        if token.step >= 0 and word < len(spans) and (token.end > starts[word] or token.end == token.start):
            found[word].append(token.step)
    return [sorted(set(steps)) for steps in found]


def word_filter(words: Collection[str]) -> str:
    """Return a Bloom filter (1970) of words in base64: 8 bits a word and 4 hashes, so that 2.4% of others pass it."""
    bits = np.zeros(8 * max(8, len(words)), np.uint8)
    for word in words:
        bits[_bits_of(word, len(bits))] = 1
    return b64encode(np.packbits(bits).tobytes()).decode()


@lru_cache(maxsize=16)
def _unpacked(words: str) -> Any:
    return np.unpackbits(np.frombuffer(b64decode(words), np.uint8))


def _bits_of(word: str, count: int) -> Any:
    return np.frombuffer(blake2b(word.encode(), digest_size=16).digest(), "<u4") % count


def _new_words(text: str, known: str) -> tuple[list[str], set[str]]:
    """Return the words of a text, and those of them that a filter has not seen."""
    bits, words = _unpacked(known), _words_of(text)
    return words, {word for word in words if not bits[_bits_of(word, len(bits))].all()}


def _words_of(text: str) -> list[str]:
    return _LETTERS.findall(without_placeholders(text).casefold())


def text_features(source: str, text: str, known: tuple[str, str]) -> tuple[float, ...]:
    """Return how long a source is, and how far it and its translation are from the words of the training text.

    The last feature is the fraction of words that are copies of source words and that the target side never had.
    """
    (sources, new_sources), (words, new) = map(_new_words, (source, text), known)
    fractions = (len(new_sources) / max(1, len(sources)), len(new) / max(1, len(words)))
    return (np.log1p(len(sources)), *fractions, len(new & set(sources)) / max(1, len(words)))


def with_confidence(translation: Translation, calibration: Calibration | None, source: str) -> Translation:
    """Return a translation with the confidence that its signals give it and its words, where there are both.

    One with a copy of a source word that the target side never had has a confidence of 0.
    """
    signals = translation.signals
    if signals is None or calibration is None:
        return translation
    if not signals.sentence:
        return replace(translation, word_confidences=(None,) * len(signals.words))
    known = [word for word in signals.words if word is not None]
    values = iter(probabilities(calibration.word, np.array(known)).tolist() if known else ())
    words = tuple(None if word is None else next(values) for word in signals.words)
    more = text_features(source, translation.text, calibration.known_words) if all(calibration.known_words) else (0.0,)
    features = (*signals.sentence, *more)[: len(calibration.sentence.weights)]
    [sentence] = probabilities(calibration.sentence, np.array([features])).tolist()
    return replace(translation, confidence=0.0 if more[-1] else sentence, word_confidences=words)


def fit(features_NF: Floats, labels_N: Floats) -> LogisticRegression:
    """Return the logistic regression of greatest penalized likelihood, by Newton's method, for labels 0 and 1.

    Labels are moved from 0 and 1 as far as two more observations would move their mean (Platt 1999), so that
    probabilities stay between 0 and 1 where all labels are alike. Raises DataError without examples.
    """
    if not len(labels_N):
        raise DataError("A logistic regression needs examples, but there are none: give more data.")
    means_F, scales_F = features_NF.mean(axis=0), features_NF.std(axis=0)
    scales_F = np.where(scales_F > 1e-9, scales_F, 1.0)
    ones_N1 = np.ones((len(labels_N), 1))
    design_NG = np.concatenate([(features_NF - means_F) / scales_F, ones_N1], axis=1)
    positive = labels_N.sum()
    targets_N = np.where(labels_N > 0, (positive + 1) / (positive + 2), 1 / (len(labels_N) - positive + 2))
    ridge_G = np.full(design_NG.shape[1], _RIDGE)
    ridge_G[-1] = 1e-6  # the bias is free
    solution_G = np.zeros(design_NG.shape[1])
    for _ in range(_STEPS):
        p_N = _sigmoid(design_NG @ solution_G)
        gradient_G = design_NG.T @ (p_N - targets_N) + ridge_G * solution_G
        hessian_GG = (design_NG * (p_N * (1 - p_N))[:, None]).T @ design_NG + np.diag(ridge_G)
        step_G = np.linalg.solve(hessian_GG, gradient_G)
        solution_G -= step_G / max(1.0, np.abs(step_G).max())  # no step is so long that it overshoots
        if np.abs(step_G).max() < 1e-9:
            break
    *weights, bias = solution_G.tolist()
    return LogisticRegression(means=means_F.tolist(), scales=scales_F.tolist(), weights=weights, bias=bias)


def probabilities(fitted: LogisticRegression, features_NF: Floats) -> Floats:
    """Return p = sigmoid(bias + sum of weight * (feature - mean) / scale) of each row; it depends on that row alone."""
    terms_NF = (features_NF - np.array(fitted.means)) / np.array(fitted.scales) * np.array(fitted.weights)
    return _sigmoid(fitted.bias + terms_NF.sum(axis=1))


def _sigmoid(values_N: Floats) -> Floats:
    return 1 / (1 + np.exp(-np.clip(values_N, -700, 700)))


Judge: TypeAlias = "Callable[[Sequence[str], Sequence[Pair], Any], Sequence[bool]]"
"""Function from texts, the pairs of their sources and the options of a run to what of the texts is right."""


def are_good(texts: Sequence[str], pairs: Sequence["Pair"], experiment: Any) -> list[bool]:
    """Return True for each translation that needs no or one word edited to be any reference of its source.

    Case and punctuation do not count; of unspaced text, two characters count as a word.
    """
    size, parts = (2, _CHARACTER) if is_unspaced(experiment.data.target) else (1, _ALPHANUMERICS)

    def is_near(text: str, reference: str) -> bool:
        found, expected = (parts.findall(one.casefold()) for one in (text, reference))
        return edit_distance(found, expected) <= (size if len(expected) > SHORT * size else 0)

    good = {source for text, (source, reference) in zip(texts, pairs, strict=True) if is_near(text, reference)}
    return [source in good for source, _ in pairs]


class RunCalibrations:
    """The calibrations of one run folder for the weights of a loaded network."""

    def __init__(self, path: Path, weights: Callable[[], str], judge: Judge = are_good) -> None:
        """``weights`` returns their SHA-256, ``judge`` decides what a calibration is fitted to."""
        self.path, self._digest, self.judge = path, weights, judge

    @cached_property
    def weights(self) -> str:
        """SHA-256 of the weights."""
        return self._digest()

    def calibration(self, options: SearchOptions, runtime: Runtime) -> Calibration:
        """Return the calibration of a resolved search; ConfigError where it was not calibrated, with what to do.

        Clients of a server read its message, so that it does not name the folder.
        """
        there, settings = calibrations.read(self.path), settings_of(options, runtime)
        remedy = "run anaphora calibrate RUN with the same search options and precision"
        if not there:
            raise ConfigError(f"The run has no calibrated confidence: {remedy}.")
        own = [one for one in there if one.weights == self.weights and one.version <= VERSION]
        if not own:
            raise ConfigError(f"The confidence was calibrated for other weights: {remedy}.")
        for one in own:
            if one.settings == settings:
                return one
        others = "; ".join(describe_settings(one.settings) for one in own)
        raise ConfigError(
            f"The confidence was calibrated for {others}, but not for {describe_settings(settings)}: {remedy}."
        )


def describe_settings(settings: Any) -> str:
    """Return the settings of a calibration in words, those that are off left out."""
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items() if value)


def settings_of(options: SearchOptions, runtime: Runtime) -> Mapping[str, Any]:
    """Return the settings that confidence is calibrated for: the search, and the precision of its products.

    What belongs to a text, such as its glossary, is left out, and so is the seed of samples.
    """
    candidates, sampling = options.candidates, options.sampling
    *_, kind = runtime.backend.rpartition("-")
    return {
        "precision": "fp32" if kind in ("torch", "gemm") else kind,
        **options.settings,
        **({"length_model": True} if options.length_model else {}),
        "length_penalty": options.length_penalty or 0.0,
        "groups": options.groups,
        "diversity": options.diverse.strength if options.diverse else 0.0,
        "candidates": [*candidates.settings.values()] if candidates else [],
        "sampling": [sampling.temperature, sampling.top_k, sampling.top_p] if sampling else [],
    }


def calibrate(
    translator: "TranslationPredictor",
    files: tuple[Path, Path] | None = None,
    options: SearchOptions = _USUAL,
    report: Report = silent,
) -> Calibration:
    """Fit the confidence of a run's translations, measure it, and store it in the run folder.

    The pairs are those of two ``files``, source and reference, or of the run's validation split. All of them fit it.
    Each half is measured by a fit to the other half, as a hash of the source divides them, so that no source is in
    both. Raises DataError for fewer than ``LEAST`` pairs, and as ``TranslationPredictor.stream``.
    """
    from anaphora.data.corpora import AlignedFiles
    from anaphora.tasks.runs import options_at

    if translator.directions:
        raise ConfigError("Confidence is calibrated for one pair of languages, but this run has several: name another.")
    run = cast(RunCalibrations, translator.calibrations)
    check_writable(run.path)
    experiment = options_at(run.path)
    pairs = list(AlignedFiles(*files) if files else _splits(run.path, report).valid)
    if len(pairs) < LEAST:
        raise DataError(
            f"Calibration needs at least {inflect(LEAST, 'pair')}, but there are {len(pairs):,}: give two text "
            f"files with --source and --reference, or train with more in the validation split."
        )
    resolved = options.resolve(translator.beam, translator.length_penalty, translator.length_models)
    found = translator.translate([source for source, _ in pairs], resolved._replace(signals=True), report=report)
    halves = _Examples([], []), _Examples([], [])
    right = run.judge([one.text for one in found], pairs, experiment)
    lowercase = lowercase_of(experiment.text.lowercase, translator.languages[1])
    known = _known_words(run.path, report) if run.judge is are_good else ("", "")
    for one, source, signals, good, words in _compare(found, pairs, right, lowercase):
        more = text_features(source, one.text, known) if all(known) else ()
        half = halves[blake2b(source.encode(), digest_size=1).digest()[0] & 1]
        half.sentences.append(((*signals.sentence, *more), good))
        half.words.extend((one, right) for one, right in zip(signals.words, words, strict=True) if one)
    if not all(all(half) for half in halves):
        raise DataError(
            "Calibration needs different sources and translations, but some are all alike or empty: give others."
        )
    (sentence, quality), (word, word_quality) = (
        _fit_and_measure(*map(_arrays, kind)) for kind in zip(*halves, strict=True)
    )
    calibration = Calibration(
        settings=dict(settings_of(resolved, translator.runtime)),
        weights=run.weights,
        version=VERSION,
        fitted_on=quality.examples,
        sentence=sentence,
        word=word,
        measured={"sentences": quality, "words": word_quality},
        known_words=known,
    )
    calibrations.add(run.path, calibration)
    return calibration


def _splits(path: Path, report: Report) -> Any:
    """Return the splits of a run's data; errors as for ``check_found``."""
    from anaphora.tasks.evaluation import check_found
    from anaphora.tasks.registry import task_of
    from anaphora.tasks.runs import experiment_of

    experiment = experiment_of(path)
    check_found(path, experiment, "--source and --reference")
    return task_of(experiment).job(experiment, report).splits


def _known_words(path: Path, report: Report) -> tuple[str, str]:
    """Return filters of the words of a run's training pairs; empty ones, with a Note, where these cannot be read."""
    try:
        train = _splits(path, silent).train
    except (DataError, MissingExtraError) as error:
        report(Note(f"Confidence is without the words of the training text, which cannot be read here ({error})."))
        return "", ""
    sides = Counter[str](), Counter[str]()
    for pair in islice(train, _PAIRS):
        for words, text in zip(sides, pair, strict=True):
            words.update(_words_of(text))
    source, target = (word_filter([word for word, _ in words.most_common(_KNOWN)]) for words in sides)
    return source, target


class _Examples(NamedTuple):
    """Features of sentences and of the words that were written, each with what is right."""

    sentences: list[tuple[Sequence[float], bool]]
    words: list[tuple[Sequence[float], bool]]


def _compare(
    found: Sequence[Translation], pairs: Sequence["Pair"], right: Sequence[bool], lowercase: Any
) -> Iterator[tuple[Translation, str, Signals, bool, Sequence[bool]]]:
    """Yield each translation that has signals, with its source and these, and what is right of it and its words."""
    for one, (source, reference), good in zip(found, pairs, right, strict=True):
        words, expected = (normalise(text, lowercase=lowercase).split() for text in (one.text, reference))
        if one.signals and one.signals.sentence and len(words) == len(one.signals.words):
            yield one, source, one.signals, good, in_common(words, expected)


def _arrays(examples: Sequence[tuple[Sequence[float], bool]]) -> tuple[Floats, Floats]:
    return np.array([features for features, _ in examples]), np.array([float(right) for _, right in examples])


def _fit_and_measure(*halves: tuple[Floats, Floats]) -> tuple[LogisticRegression, CalibrationQuality]:
    """Return the fit to both halves, features and labels, and the quality of fits to one half on the other half."""
    probabilities_N = np.concatenate(
        [probabilities(fit(*other), features_NF) for other, (features_NF, _) in zip(halves[::-1], halves, strict=True)]
    )
    features_NF, labels_N = map(np.concatenate, zip(*halves, strict=True))
    return fit(features_NF, labels_N), CalibrationQuality(
        examples=len(labels_N),
        positive=float(labels_N.mean()),
        area=area_under_curve(probabilities_N, labels_N),
        calibration_error=calibration_error(probabilities_N, labels_N),
    )
