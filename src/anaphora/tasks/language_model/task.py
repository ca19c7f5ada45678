"""Language modelling: text continued, scored and measured."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

from anaphora.data.finding import Names, find_pairs, find_texts
from anaphora.data.sources import text_splits
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.adaptation import Adaptation, is_fitted
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Note, Report, silent
from anaphora.formats.tsv import has_two_columns
from anaphora.models.ngram.model import NgramModel
from anaphora.models.registry import NETWORKS
from anaphora.run.logs import Metric
from anaphora.tasks.evaluation import Answer, Request, ScoredRuns, one_run, own_splits
from anaphora.tasks.language_model.arpa import save_arpa
from anaphora.tasks.language_model.config import (
    FeedForwardExperiment,
    InterpolationExperiment,
    LanguageModelExperiment,
    NgramExperiment,
    RecurrentExperiment,
)
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.language_model.training import (
    InterpolationJob,
    LanguageModelJob,
    NgramJob,
    language_model_splits,
    with_members,
)
from anaphora.tasks.runs import experiment_of, load, load_trained, opener_of
from anaphora.tasks.scores import DigestedText, score_run
from anaphora.tasks.sizing import TOKENS, Tier, figure, tier_for, training_table, value_at
from anaphora.tasks.task import GivenData, SizedExperiment, Table, Task
from anaphora.text.tokenization import AnyTokenizer, Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.wording import inflect


def _export_arpa(run: Path, output: Path, report: Report) -> None:
    trained = load_trained(run, "best", report)
    if not isinstance(trained.model, NgramModel):
        raise ConfigError(
            f"An ARPA file holds n-grams, but {run} is no n-gram language model: train one from ptb-ngram."
        )
    save_arpa(trained.model.backoff, trained.tokenizers["text"], output)
    text = trained.experiment.text
    if isinstance(text, Word) and text.segmentation != "whitespace":
        report(
            Note(
                f"Its words are segmented by text.segmentation = {text.segmentation!r}, but the file is read "
                f"word by word between spaces: give them text that is segmented alike, or score with {run} itself."
            )
        )


TIERS = (
    Tier(200_000, size=192, dropout=0.3, epochs=30),
    Tier(5_000_000, size=512, dropout=0.1, epochs=10),
    Tier(1 << 62, size=768, dropout=0.1, epochs=4),
)
_UPDATES = 200
"""Updates of an epoch of little text."""
_BATCHES = range(400, 4_000)
"""Characters of its batches; of more text a batch takes the usual number."""


class RecurrentLanguageModelling(Task):
    """Language modelling by a recurrent network."""

    name, model = "language-model", "recurrent"
    noun, plural = "a language model", "recurrent language models"
    experiment: ClassVar[type[LanguageModelExperiment]] = RecurrentExperiment
    network = NETWORKS["recurrent"]
    job_class: ClassVar[type[Any]] = LanguageModelJob
    takes = ("text", "adaptation")
    see = "see anaphora generate and evaluate"
    next_command = "anaphora generate {run} --prompt 'The'"
    example = 'model = anaphora.load("{path}")\nprint(model.generate("...").text)'
    counted, tiers = "characters", TIERS

    def tokenizers_of(self, tokenizers: dict[str, Tokenizer], path: Path) -> dict[str, Tokenizer]:
        """Return the tokenizer of a text, or of the target side of a translator."""
        return {"text": tokenizers["text"] if "text" in tokenizers else tokenizers["target"]}

    def evaluate(self, paths: Sequence[Path], request: Request, report: Report) -> Answer:
        """Score one model; what an adaptation leaves open is fitted to the validation split of its run.

        An ARPA file in place of a run keeps no scores. Raises ConfigError for what a language model has no use for,
        DataError for texts that are not what they should be.
        """
        path = one_run(paths, self.noun)
        request.refuse(path, self.noun, self.takes)
        if opener_of(path):
            if request.text is None:
                raise ConfigError(
                    f"{path} is a file of counts without data of its own: give the text to predict with --text."
                )
            lines = DigestedText(request.text.lines)
            found = load(path).evaluate(lines, request.adaptation, report=report)
            name = request.text.name
            return Answer([ScoredRuns(str(path), {name: found}, {name: lines.fingerprint})])
        texts: Mapping[str, Any] = {request.text.name: request.text.lines} if request.text else {}
        texts = texts or own_splits(path, experiment_of(path), language_model_splits, "--text", report)
        digested = {part: DigestedText(text) for part, text in texts.items()}
        fitted = cache(partial(adapted_to_data, path=path, adaptation=request.adaptation, report=report))

        def score(model: LanguageModelPredictor, text: DigestedText[str]) -> Prediction:
            return model.evaluate(text, fitted(model), report=report)

        return Answer([score_run(path, lambda model: digested, score, metrics_of_prediction, request, report)])

    def suits(self, data: GivenData) -> bool:
        """Return True for a folder that holds ``train.txt``, and for a file whose kind can hold no pairs."""
        return not any(data.languages) and all(_is_running_text(path, data.names) for path in data.paths)

    def choose(self, data: GivenData) -> SizedExperiment:
        """Choose the model of characters for as many of them; DataError for data that cannot be read."""
        found = text_splits(data.paths, data.names)
        characters = sum(len(line) + 1 for line in found.train)
        return SizedExperiment(_table(characters), f"{inflect(characters, 'character')} of running text")

    def describe(self, table: Table, text: AnyTokenizer | None) -> str:
        token = TOKENS.get(text.tokenizer if text else str(value_at(table, "text.tokenizer")), "token")
        size = figure(table, "recurrence.size", " of {:,} hidden units")
        return f"a {token} language model{size}{figure(table, 'training.epochs', ', {:,} epochs')}"


class FeedForwardLanguageModelling(RecurrentLanguageModelling):
    """Language modelling by a network that sees a fixed number of symbols."""

    model, plural = "feed-forward", "feed-forward language models"
    experiment = FeedForwardExperiment
    network = NETWORKS["feed-forward"]


class NgramLanguageModelling(RecurrentLanguageModelling):
    """Language modelling by counts of n-grams."""

    model, plural = "ngram", "n-gram language models"
    experiment = NgramExperiment
    network, job_class = NETWORKS["ngram"], NgramJob
    on_gpu = False
    exports: ClassVar = {"arpa": _export_arpa}


class Interpolating(RecurrentLanguageModelling):
    """Language modelling by an interpolation of runs."""

    model, plural = "interpolation", "interpolations"
    experiment = InterpolationExperiment
    network, job_class = NETWORKS["interpolation"], InterpolationJob
    on_gpu = False

    def with_runs(self, experiment: Any, parent: object) -> tuple[Any, tuple[()]]:
        return with_members(experiment), ()


TASKS = (RecurrentLanguageModelling, FeedForwardLanguageModelling, NgramLanguageModelling, Interpolating)


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
    return model.adapt(adaptation, splits.valid.lines(), splits.train.lines())


def metrics_of_prediction(result: Prediction) -> tuple[Metric, ...]:
    """Return the metrics as a run folder keeps them."""
    reading = "one pass" if result.carried else "line by line"
    adapted = f", {result.adaptation}" if result.adaptation else ""
    predicted = f"{reading}, {inflect(result.tokens, 'prediction')}, {result.unknown:,} unknown"
    how = f"{predicted}{adapted}"
    how_known = f"{reading}, {inflect(result.tokens - result.unknown, 'prediction')}{adapted}"
    how_words = f"{predicted}, {inflect(result.size.words, 'word')} and line ends{adapted}"
    of_words = () if result.tokens_are_words else (Metric("perplexity per word", result.word_perplexity, how_words),)
    return (
        Metric("bits per character", result.bits_per_character, how),
        Metric("bits per byte", result.bits_per_byte, how),
        Metric("bits per character without unknown", result.known.bits_per_character, how_known),
        Metric("bits per byte without unknown", result.known.bits_per_byte, how_known),
        Metric("perplexity", result.perplexity, how),
        Metric("perplexity without unknown", result.known.perplexity, how_known),
        Metric(
            "perplexity line by line",
            result.sentence_perplexity,
            f"line by line, {inflect(result.tokens, 'prediction')}",
        ),
        *of_words,
    )


def _is_running_text(path: Path, names: Names) -> bool:
    try:
        if path.is_dir():
            find_texts([path], names, silent)
            return True
        find_pairs([path], ("source", "target"), names, silent)
    except DataError:
        return not path.is_dir() and not (path.is_file() and has_two_columns(path))
    return False


def _table(characters: int) -> Table:
    tier, plateau = tier_for(characters, TIERS), {"kind": "plateau", "patience": 1}
    batch_tokens = max(_BATCHES.start, characters // _UPDATES)
    if batch_tokens not in _BATCHES:
        batch_tokens = 0
    return {
        "task": "language-model",
        "text": {"tokenizer": "character"},
        "embedding": {"size": 64},
        "recurrence": {"cell": "lstm", "layers": 1, "size": tier.size, "dropout": tier.dropout},
        "training": training_table(tier, 0.002, batch_tokens, patience=3, schedule=plateau),
    }
