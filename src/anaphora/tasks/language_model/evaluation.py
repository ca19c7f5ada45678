"""Language models measured on given text or on their own test splits; adaptation fitted to the data of their run."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, is_fitted
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Note, Report, silent
from anaphora.run.logs import Metric
from anaphora.tasks.evaluation import Answer, Request, Scored, one_run, own_splits
from anaphora.tasks.language_model.config import LanguageModelExperiment
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.language_model.training import language_model_splits
from anaphora.tasks.runs import experiment_of, is_file_of_another_program, load
from anaphora.tasks.scores import Digested, scored
from anaphora.wording import counted

_NOUN = "a language model"


def evaluate(paths: Sequence[Path], request: Request, report: Report = silent) -> Answer:
    """Perplexity and bits of one language model; what an adaptation leaves open is fitted to the validation split.

    An ARPA file in place of a run keeps no scores. Raises ConfigError for what a language model has no use for,
    DataError for texts that are not what they should be.
    """
    path = one_run(paths, _NOUN)
    request.refuse(path, _NOUN, ("text", "adaptation"))
    if is_file_of_another_program(path):
        if request.text is None:
            raise ConfigError(
                f"{path} is a file of counts without data of its own: give the text to predict with --text."
            )
        lines = Digested(request.text.lines)
        found = load(path).evaluate(lines, request.adaptation, report=report)
        name = request.text.name
        return Answer([Scored(str(path), {name: found}, {name: lines.fingerprint})])
    texts: Mapping[str, Any] = {request.text.name: request.text.lines} if request.text else {}
    texts = texts or own_splits(path, experiment_of(path), language_model_splits, "--text", report)
    digested = {part: Digested(text) for part, text in texts.items()}
    fitted = cache(partial(adapted_to_data, path=path, adaptation=request.adaptation, report=report))

    def score(model: LanguageModelPredictor, text: Digested[str]) -> Prediction:
        return model.evaluate(text, fitted(model), report=report)

    return Answer([scored(path, lambda model: digested, score, metrics_of_prediction, request, report)])


def adapted_to_data(model: LanguageModelPredictor, path: Path, adaptation: Adaptation, report: Report) -> Adaptation:
    """The adaptation of the model in ``path``, what it leaves open fitted to the run's validation and training splits.

    Raises ConfigError for a model that cannot adapt so, and errors as for ``data.sources.text_splits``.
    """
    model.check(adaptation)
    if is_fitted(adaptation):
        return adaptation
    experiment = experiment_of(path)
    assert isinstance(experiment, LanguageModelExperiment)  # an ARPA file adapts to nothing
    report(Note("Fitting to the run's own data ..."))
    try:
        splits = language_model_splits(experiment, report)
    except DataError as error:
        raise DataError(
            f"What is left open is fitted to the data that {path} was trained on, which is not at hand ({error}): give "
            f"every number, as in --dynamic learning_rate=0.001 or --neural-cache tokens=2000,theta=0.3,weight=0.1."
        ) from None
    return model.adapted(adaptation, splits.valid.lines(), splits.train.lines())


def metrics_of_prediction(result: Prediction) -> tuple[Metric, ...]:
    """Return the metrics as a run folder keeps them."""
    reading = "one pass" if result.carried else "line by line"
    adapted = f", {result.adaptation}" if result.adaptation else ""
    predicted = f"{reading}, {counted(result.tokens, 'prediction')}, {result.unknown:,} unknown"
    how = f"{predicted}{adapted}"
    how_known = f"{reading}, {counted(result.tokens - result.unknown, 'prediction')}{adapted}"
    how_words = f"{predicted}, {counted(result.size.words, 'word')} and line ends{adapted}"
    of_words = () if result.tokens_are_words else (Metric("perplexity per word", result.word_perplexity, how_words),)
    return (
        Metric("bits per character", result.bits_per_character, how),
        Metric("bits per byte", result.bits_per_byte, how),
        Metric("bits per character without unknown", result.known_bits_per_character, how_known),
        Metric("bits per byte without unknown", result.known_bits_per_byte, how_known),
        Metric("perplexity", result.perplexity, how),
        Metric("perplexity without unknown", result.known_perplexity, how_known),
        Metric(
            "perplexity line by line",
            result.sentence_perplexity,
            f"line by line, {counted(result.tokens, 'prediction')}",
        ),
        *of_words,
    )
