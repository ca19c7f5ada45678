"""Translators scored under the conditions that their experiment names: on given text, or on their own test splits."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import cast

from anaphora.data.corpora import AlignedFiles, Pair
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.evaluation.bleu import METRICS, Condition, metric_of
from anaphora.evaluation.breakdown import by_length, by_unknown_words, words_of_text
from anaphora.evaluation.significance import Comparison, paired_bootstrap
from anaphora.events import Note, Report, silent
from anaphora.prediction.options import SearchOptions
from anaphora.run import Run
from anaphora.search.ensemble import Mean
from anaphora.tasks.evaluation import Answer, Request, Scored, own_splits
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import Digested, scored
from anaphora.tasks.training_job import pair_splits
from anaphora.tasks.translation.combination import load_together
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.tasks.translation.scores import TranslationScores
from anaphora.text.normalise import Lowercase, lowercase_of

_USUAL = SearchOptions()
_TAKEN = ("pairs", "search", "ensemble", "mean", "fusion", "precision", "details", "sentences")

Texts = Mapping[str, Iterable[Pair]]


def evaluate(paths: Sequence[Path], request: Request, report: Report = silent) -> Answer:
    """Score one translator, two on the same text with their significance, or several as one.

    The first run's experiment says under which conditions. Raises ConfigError for other models, for two translators of
    different languages, and for what does not go together, DataError for texts that are not what they should be.
    """
    request.search.check()
    request.refuse(paths[0], "a translator", _TAKEN)
    together = request.ensemble or request.fusion is not None
    if len(paths) > 1 and request.search.known and not together:
        raise ConfigError(
            "Each translator knows words of its own, so that --known-words is for one: evaluate each alone."
        )
    experiments = _translators(paths)
    if len(paths) > 1 and not together:
        _check_same_languages(paths, experiments)
    texts = _texts(paths[0], experiments[0], request, report)
    if together:
        mean = cast(Mean, request.mean or "arithmetic")
        translator = load_together(paths, mean, request.fusion, report, precision=request.precision)
        read = _digested(texts)
        results = {
            part: score_translations(translator, text, experiments[0], request.search, report)
            for part, text in read.items()
        }
        digests = {part: text.fingerprint for part, text in read.items()}
        found = [Scored(_together(paths, mean, request.fusion), results, digests)]
    else:
        found = [_of_run(path, experiments[0], texts, request, report) for path in paths]
    first, *others = (one.results for one in found)
    compared = {part: compare(first[part], others[0][part]) for part in texts} if others else {}
    if request.details:
        found = [one._replace(results=_in_groups(paths[0], experiments[0], one.results, report)) for one in found]
    return Answer(found, compared)


def score_translations(
    translator: TranslationPredictor,
    pairs: Iterable[Pair],
    experiment: TranslationExperiment,
    search: SearchOptions = _USUAL,
    report: Report = silent,
) -> TranslationScores:
    """BLEU and chrF of a translator on pairs, as the experiment says and raw.

    Raises MissingExtraError for no tokeniser, DataError where no pair is left, and as the predictor's ``translate``.
    """
    conditions: tuple[Condition, ...] = tuple(dict.fromkeys((experiment.evaluation.conditions, "raw")))
    for condition in conditions:
        metric_of("BLEU", experiment.data.target, condition)  # a missing tokeniser is reported before the work
    kept = [
        (source, reference) for source, reference in pairs if not search.known or translator.knows(source, reference)
    ]
    if search.known and not kept:
        raise DataError("Every pair of the text has unknown words on one side or the other: score all of them.")
    sources, references = [source for source, _ in kept], [reference for _, reference in kept]
    own = translator.evaluation
    resolved = search.resolved(own.beam, own.length_penalty)._replace(protect=search.protect or ())
    return TranslationScores.of(
        sources,
        references,
        translator.translate(sources, resolved, report=report),
        search=resolved,
        language=experiment.data.target,
        conditions=conditions,
        precision=translator.precision,
        lowercased=experiment.text.lowercase,
    )


def _of_run(path: Path, experiment: TranslationExperiment, texts: Texts, request: Request, report: Report) -> Scored:
    """Scores by split of the best checkpoint of a run, which keeps them where that is asked for."""
    read = _digested(texts)

    def score(translator: TranslationPredictor, text: Iterable[Pair]) -> TranslationScores:
        return score_translations(translator, text, experiment, request.search, report)

    return scored(path, lambda translator: read, score, TranslationScores.metrics, request, report)


def _digested(texts: Texts) -> Mapping[str, Digested[Pair]]:
    return {part: Digested(text) for part, text in texts.items()}


def _translators(paths: Sequence[Path]) -> list[TranslationExperiment]:
    """The experiments of runs that must be translators."""
    found = []
    for path in paths:
        experiment = experiment_of(path)
        if not isinstance(experiment, TranslationExperiment):
            raise ConfigError(f"Several translators can be evaluated, but {path} is not one: evaluate it by itself.")
        found.append(experiment)
    return found


def _check_same_languages(paths: Sequence[Path], experiments: Sequence[TranslationExperiment]) -> None:
    data, others = experiments[0].data, experiments[1].data
    if (data.source, data.target) != (others.source, others.target):
        raise ConfigError(
            f"Two translators are compared on one text, but {paths[0]} translates {data.source} to {data.target} and "
            f"{paths[1]} {others.source} to {others.target}: evaluate each alone."
        )


def _texts(path: Path, experiment: TranslationExperiment, request: Request, report: Report) -> Texts:
    """The pairs to be scored, by split."""
    if request.pairs:
        return {request.pairs[0].name: AlignedFiles(*request.pairs)}
    return own_splits(path, experiment, pair_splits, "--source and --reference", report)


def _together(paths: Sequence[Path], mean: str, fusion: tuple[Path, float] | None) -> str:
    """The name of runs that translate as one: with all that changes what they write."""
    translators = f"{mean} mean of {' + '.join(map(str, paths))}" if len(paths) > 1 else str(paths[0])
    return translators if fusion is None else f"{translators} + {fusion[1]:g} x {fusion[0]}"


def compare(first: TranslationScores, second: TranslationScores) -> list[Comparison]:
    """Paired bootstrap of every metric and condition."""
    outputs, others = ([output.text for output in scores.outputs] for scores in (first, second))
    return [
        paired_bootstrap(outputs, others, first.references, name, language=first.language, condition=condition)
        for condition in first.scores
        for name in METRICS
    ]


def _in_groups(
    path: Path, experiment: TranslationExperiment, results: Mapping[str, TranslationScores], report: Report
) -> dict[str, TranslationScores]:
    """The results with their groups: by the length of the source, and by words that training never showed.

    The latter are left out with a warning where the training split is not at hand.
    """
    groups = {part: dict(by_length(result.sources)) for part, result in results.items()}
    try:
        known = _training_words(path, experiment, report)
    except AnaphoraError as error:
        report(Note(f"Sentences with unknown words are not told apart: {error}", warning=True))
    else:
        for part, result in results.items():
            groups[part] |= by_unknown_words(result.sources, known, _lowercase(experiment))
    return {part: replace(result, groups=groups[part]) for part, result in results.items()}


def _lowercase(experiment: TranslationExperiment) -> Lowercase:
    return lowercase_of(experiment.text.lowercase, experiment.data.source)


def _training_words(path: Path, experiment: TranslationExperiment, report: Report) -> Set[str]:
    train = pair_splits(experiment, report).train
    if Run.open(path).load("best").fingerprints.get("data/train") != train.fingerprint:
        raise DataError(f"the training split of {path} is no longer the text that it was trained on.")
    lowercase = _lowercase(experiment)
    return frozenset(word for line in train.sources() for word in words_of_text(line, lowercase))
