"""How good a run is, under the conditions that its experiment names: on given text, or on its own test parts."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from anaphora.data.corpora import AlignedFiles, Pair
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, Static
from anaphora.evaluation.bleu import METRICS, Condition, metric_of
from anaphora.evaluation.perplexity import Prediction
from anaphora.evaluation.significance import Comparison, paired_bootstrap
from anaphora.events import Report, silent
from anaphora.experiment.conduct import experiment_of
from anaphora.experiment.schema import (
    AlignerExperiment,
    Experiment,
    LanguageModelExperiment,
    TranslationExperiment,
)
from anaphora.experiment.scoring.adaptation import adapted_to_data, refuse_adaptation
from anaphora.experiment.scoring.keeping import Digested, Results, keep_results
from anaphora.experiment.scoring.search import Search
from anaphora.experiment.scoring.translation_scores import TranslationScores
from anaphora.experiment.tasks.pairs import pair_parts
from anaphora.experiment.tasks.running_text import language_model_parts
from anaphora.formats.lines import read_lines
from anaphora.pipeline import LanguageModel, Translator, load, load_together
from anaphora.pipeline.arpa import is_arpa, load_arpa
from anaphora.run import Run
from anaphora.search.ensemble import Mean

_AnyData = TypeVar("_AnyData", TranslationExperiment, LanguageModelExperiment)

_STATIC = Static()
_USUAL = Search()


def assess(
    path: Path,
    *,
    pairs: tuple[Path, Path] | None = None,
    text: Path | None = None,
    search: Search = _USUAL,
    adaptation: Adaptation = _STATIC,
    keep: bool = False,
    report: Report = silent,
) -> Results:
    """Figures by part: of ``pairs`` (a source and its reference), of a ``text``, or of the run's own test parts.

    What an ``adaptation`` leaves open is fitted to the validation part. With ``keep`` the figures are added to the run
    folder, which training may be using meanwhile; an ARPA file in its place keeps none. Raises ConfigError for pairs
    given to a language model and the other way round, and for a search or an adaptation that the model cannot have,
    DataError for files that are not what they should be, RunError for the folder.
    """
    search.check()
    if is_arpa(path):
        search.refuse(path)
        return _assess_file(path, pairs, text, adaptation, report)
    experiment = experiment_of(path)
    if isinstance(experiment, TranslationExperiment):
        refuse_adaptation(path, adaptation)
    elif isinstance(experiment, LanguageModelExperiment):
        search.refuse(path)
    texts = _texts(path, experiment, pairs, text, report)
    assert not isinstance(experiment, AlignerExperiment)  # which has no texts
    return _assess(path, experiment, texts, search, adaptation, keep, report)


def assess_ensemble(
    paths: Sequence[Path],
    *,
    mean: Mean = "arithmetic",
    fusion: tuple[Path, float] | None = None,
    pairs: tuple[Path, Path] | None = None,
    search: Search = _USUAL,
    report: Report = silent,
) -> Results:
    """Figures of one or several translators as one, on ``pairs`` or the test parts of the first; they are kept nowhere.

    ``fusion`` is a run of a language model and how much it counts beside them. The first run's experiment says under
    which conditions. Raises as ``assess_both`` and ``load_together``.
    """
    search.check()
    experiment = _translators(paths)[0]
    translator = load_together(paths, mean, fusion, report)
    return {
        part: score_translations(translator, text, experiment, search, report)
        for part, text in _texts(paths[0], experiment, pairs, None, report).items()
    }


def _translators(paths: Sequence[Path]) -> list[TranslationExperiment]:
    """The experiments of runs that must be translators."""
    found = []
    for path in paths:
        experiment = experiment_of(path)
        if not isinstance(experiment, TranslationExperiment):
            raise ConfigError(f"Several translators can be evaluated, but {path} is not one: evaluate it by itself.")
        found.append(experiment)
    return found


def _assess_file(
    path: Path, pairs: tuple[Path, Path] | None, text: Path | None, adaptation: Adaptation, report: Report
) -> Results:
    if pairs is not None or text is None:
        raise ConfigError(f"{path} is a file of counts without data of its own: give the text to predict with --text.")
    return {text.name: LanguageModel(*load_arpa(path)).evaluate(read_lines(text), adaptation, report=report)}


def assess_both(
    first: Path,
    second: Path,
    *,
    pairs: tuple[Path, Path] | None = None,
    search: Search = _USUAL,
    keep: bool = False,
    report: Report = silent,
) -> tuple[Results, Results, dict[str, list[Comparison]]]:
    """Figures of two translators on the same text, that given or the test parts of the first, and how they compare.

    The first run's experiment says under which conditions. Raises as ``assess``, and ConfigError where one is no
    translator, where they are for other languages, or where each would leave out pairs of its own.
    """
    search.check()
    if search.known:
        raise ConfigError(
            "Each translator knows words of its own, so that --known-words is for one: evaluate each alone."
        )
    experiment, other = _translators((first, second))
    data, others = experiment.data, other.data
    if (data.source, data.target) != (others.source, others.target):
        raise ConfigError(
            f"Two translators are compared on one text, but {first} translates {data.source} to {data.target} and "
            f"{second} {others.source} to {others.target}: evaluate each alone."
        )
    texts = _texts(first, experiment, pairs, None, report)
    results = [_assess(path, experiment, texts, search, _STATIC, keep, report) for path in (first, second)]
    compared = {part: _compare(results[0][part], results[1][part]) for part in texts}
    return results[0], results[1], compared


def score_translations(
    translator: Translator,
    pairs: Iterable[Pair],
    experiment: TranslationExperiment,
    search: Search = _USUAL,
    report: Report = silent,
) -> TranslationScores:
    """BLEU and chrF of a translator on pairs, as the experiment says and raw.

    Raises MissingExtraError for no tokeniser, DataError where no pair is left, and as ``Search.translate`` and
    ``Translator.without_unknown``.
    """
    if search.known:
        translator = translator.without_unknown()
    conditions: tuple[Condition, ...] = tuple(dict.fromkeys((experiment.evaluation.conditions, "raw")))
    for condition in conditions:
        metric_of("BLEU", experiment.data.target, condition)  # a missing tokeniser is told before the work
    kept = [
        (source, reference) for source, reference in pairs if not search.known or translator.knows(source, reference)
    ]
    if search.known and not kept:
        raise DataError("Every pair of the text has unknown words on one side or the other: score all of them.")
    sources, references = [source for source, _ in kept], [reference for _, reference in kept]
    settled = search.settled(translator.evaluation)
    return TranslationScores.of(
        sources,
        references,
        settled.translate(translator, sources, report),
        search=settled,
        language=experiment.data.target,
        conditions=conditions,
    )


def _assess(
    path: Path,
    experiment: TranslationExperiment | LanguageModelExperiment,
    texts: Mapping[str, Any],
    search: Search,
    adaptation: Adaptation,
    keep: bool,
    report: Report,
) -> Results:
    """Figures by part by the best checkpoint of a run, which gets them too with ``keep``."""
    run = Run.open(path)
    which = run.load("best", report).which  # by its name: training may choose another meanwhile
    model = load(path, which)
    read = {part: Digested(text) for part, text in texts.items()}
    results: Results
    if isinstance(experiment, TranslationExperiment):
        translator = cast(Translator, model)
        results = {
            part: score_translations(translator, text, experiment, search, report) for part, text in read.items()
        }
    else:
        predictor = cast(LanguageModel, model)
        adaptation = adapted_to_data(predictor, path, adaptation, report)
        results = {part: predictor.evaluate(text, adaptation, report=report) for part, text in read.items()}
    if keep:
        keep_results(run, which, results, {part: text.digest for part, text in read.items()}, report)
    return results


def _texts(
    path: Path, experiment: Experiment, pairs: tuple[Path, Path] | None, text: Path | None, report: Report
) -> Mapping[str, Any]:
    """What is to be measured, by part: pairs for a translator, lines for a language model."""
    if isinstance(experiment, AlignerExperiment):
        raise ConfigError(f"{path} is an aligner: its links are measured by anaphora align {path} PAIRS --gold LINKS.")
    if isinstance(experiment, TranslationExperiment):
        if text is not None:
            raise ConfigError(f"{path} is a translator: it is scored on --source and --reference, not on --text.")
        options = "--source and --reference"
        given: Mapping[str, Any] = {pairs[0].name: AlignedFiles(*pairs)} if pairs else {}
        found = given or pair_parts(_where_it_was(path, experiment, options), report).tests
    else:
        if pairs is not None:
            raise ConfigError(f"{path} is a language model: it is scored on --text, not on --source and --reference.")
        options = "--text"
        found = (
            {text.name: read_lines(text)}
            if text
            else language_model_parts(_where_it_was(path, experiment, options), report).tests
        )
    if not found:
        raise DataError(f"The run's data has no test part: give one with {options}.")
    return found


def _where_it_was(path: Path, experiment: _AnyData, options: str) -> _AnyData:
    """``experiment``, whose data is where the run found it; DataError where it has moved."""
    for file in experiment.data.files:
        if not Path(file).exists():
            raise DataError(
                f"{path} was begun with the data in {file}, but that is no longer there: put it back, or give a text "
                f"with {options}."
            )
    return experiment


def _compare(first: TranslationScores | Prediction, second: TranslationScores | Prediction) -> list[Comparison]:
    assert isinstance(first, TranslationScores) and isinstance(second, TranslationScores)
    outputs, others = ([output.text for output in scores.outputs] for scores in (first, second))
    return [
        paired_bootstrap(outputs, others, first.references, name, language=first.language, condition=condition)
        for condition in first.scores
        for name in METRICS
    ]
