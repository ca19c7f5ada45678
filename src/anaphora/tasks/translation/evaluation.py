"""Evaluation of translators: scores of a text as a whole, in groups of sentences, and sentence by sentence.

Translators are scored under the conditions that their experiment names, on given text or on their own test splits.
Smaller ones are trained on what larger ones write (Kim and Rush 2016).
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from anaphora.data.corpora import AlignedFiles, Pair, PairCorpus
from anaphora.data.directions import languages_named, split_directions
from anaphora.data.sources import pair_corpus
from anaphora.errors import AnaphoraError, ConfigError, DataError
from anaphora.evaluation.bleu import METRICS, Condition, Score, bleu, chrf, metric_of, segment_metric, sentence_scores
from anaphora.evaluation.breakdown import Groups, by_length, by_unknown_words, words_of_text
from anaphora.evaluation.segments import SegmentMetric
from anaphora.evaluation.significance import Comparison, paired_bootstrap
from anaphora.events import Note, Report, silent
from anaphora.formats.json_text import figures_as_json
from anaphora.kernels.backends import precision_of
from anaphora.kernels.compiled.gemm import PackedPrecision
from anaphora.languages import choose_direction
from anaphora.prediction.options import SearchOptions
from anaphora.run import Run
from anaphora.run.logs import Metric
from anaphora.search.ensemble import Mean
from anaphora.tasks.data_table import PairData
from anaphora.tasks.evaluation import Answer, Request, ScoredRuns, own_splits
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.scores import DigestedText, score_run
from anaphora.tasks.task import Distillation, Table
from anaphora.tasks.training_job import pair_splits
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.predictor import TranslationPredictor, load_together
from anaphora.tasks.translation.translation import Translation
from anaphora.text.normalise import lowercase_of
from anaphora.text.tokenizer import MARKS, UNK, UNKNOWN
from anaphora.wording import inflect

_USUAL = SearchOptions()
_FEW = 10
"""Sentences whose scores are mostly chance below this number."""
TAKEN = ("pairs", "data", "search", "ensemble", "mean", "fusion", "precision", "details", "sentences", "to")
"""The fields of a request that an evaluation has a use for."""


@dataclass(frozen=True)
class TranslationScores:
    """Scores of the translations of one split."""

    search: SearchOptions = field(repr=False)
    """Options of the search that found them, with nothing left open."""
    language: str
    """Language of the translations."""
    conditions: Sequence[Condition]
    """The conditions that the experiment names, then those of the text as it is."""
    sources: Sequence[str] = field(repr=False)
    references: Sequence[str] = field(repr=False)
    outputs: Sequence[Translation] = field(repr=False)
    precision: PackedPrecision = "fp32"
    """Precision of matrix products."""
    lowercased: bool = False
    """True if the translator writes no capitals."""
    groups: Groups = field(default_factory=dict, compare=False, repr=False)
    """Numbers of sentences by the name of their group, where groups are scored too."""

    @cached_property
    def scores(self) -> Mapping[Condition, tuple[Score, Score]]:
        """BLEU and chrF under every condition."""
        return {one: bleu_and_chrf(self.texts, self.references, self.language, one) for one in self.conditions}

    @property
    def texts(self) -> list[str]:
        """The translations."""
        return [output.text for output in self.outputs]

    @property
    def unknown(self) -> int:
        """Words of the outputs that the vocabulary lacks, whether they were replaced or not."""
        return sum(output.unknown for output in self.outputs)

    @property
    def left(self) -> int:
        """Unknown words that the texts still have: neither replaced nor filled in by annotations."""
        written = (output.text.count(MARKS[UNK]) + output.text.count(UNKNOWN) for output in self.outputs)
        return min(self.unknown, sum(written))

    def segment_metrics(self) -> list[SegmentMetric]:
        """BLEU and chrF under every condition, as sums over sentences."""
        return [
            segment_metric(self.texts, self.references, name, language=self.language, condition=condition)
            for condition in self.conditions
            for name in METRICS
        ]

    def of_groups(self) -> dict[str, tuple[int, tuple[Score, Score]]]:
        """Sentences, BLEU and chrF of each group, under the first condition: that which the experiment names."""
        found = {}
        for name, numbers in self.groups.items():
            texts = [self.outputs[number].text for number in numbers]
            references = [self.references[number] for number in numbers]
            found[name] = (len(numbers), bleu_and_chrf(texts, references, self.language, self.conditions[0]))
        return found

    def sentence_lines(self, **marks: str) -> Iterator[str]:
        """Yield one JSON object a sentence, ``marks`` in front: what was translated, into what, and how well."""
        condition = self.conditions[0]
        figures = sentence_scores(self.texts, self.references, language=self.language, condition=condition)
        rows = zip(self.sources, self.references, self.outputs, figures, strict=True)
        for number, (source, reference, output, scores) in enumerate(rows, 1):
            text = {"number": number, "source": source, "reference": reference, "output": output.text}
            line = marks | text | {"log_probability": output.score, "condition": condition} | scores
            yield figures_as_json(line)

    def json(self) -> dict[str, Any]:
        conditions: dict[str, Any] = {
            condition: {"bleu": bleu.json(), "chrf": chrf.json()} for condition, (bleu, chrf) in self.scores.items()
        }
        groups = {
            name: {"sentences": count, "bleu": bleu.json(), "chrf": chrf.json()}
            for name, (count, (bleu, chrf)) in self.of_groups().items()
        }
        how = {**self.search.json(self.unknown, self.left), "precision": self.precision}
        found = {"sentences": len(self.outputs), **how, **conditions}
        return found | ({"groups": groups} if groups else {})

    def metrics(self) -> tuple[Metric, ...]:
        """Return the scores as a run folder keeps them."""
        how = self.describe_search()
        return tuple(
            Metric(score.name, score.value, f"{score.condition}; {score.signature}; {how}")
            for both in self.scores.values()
            for score in both
        )

    def describe_search(self) -> str:
        """Return a description of the search, in words."""
        how = self.search.describe(len(self.outputs), self.unknown, self.left)
        return how if self.precision == "fp32" else f"{how}, {self.precision}"

    def __str__(self) -> str:
        groups = [
            f"  {name:<24} {inflect(count, 'sentence'):>17}  BLEU {bleu.value:6.2f}  chrF2 {chrf.value:6.2f}  "
            f"({bleu.condition})"
            for name, (count, (bleu, chrf)) in self.of_groups().items()
        ]
        scores = [str(score) for both in self.scores.values() for score in both]
        if self.lowercased:
            scores.append(
                "The raw scores count the capitals of the reference, and this run writes none (text.lowercase = true)."
            )
        if len(self.outputs) < _FEW:
            scores.append(f"So few sentences ({len(self.outputs)}) say little of a translator: score {_FEW} or more.")
        return "\n".join([*scores, self.describe_search(), *groups])


def bleu_and_chrf(
    texts: Sequence[str], references: Sequence[str], language: str, condition: Condition
) -> tuple[Score, Score]:
    """Return both scores of outputs in a language under one condition."""
    return (
        bleu(texts, references, language=language, condition=condition),
        chrf(texts, references, language=language, condition=condition),
    )


def evaluate(paths: Sequence[Path], request: Request, report: Report = silent) -> Answer:
    """Score one translator, two on the same text with their significance, or several as one.

    The first run's experiment says under which conditions. Raises ConfigError for other models, for two translators of
    different languages, and for what does not go together, DataError for texts that are not what they should be.
    """
    request.search.check()
    request.refuse(paths[0], "a translator", TAKEN)
    together = request.ensemble or request.fusion is not None
    if len(paths) > 1 and request.search.known and not together:
        raise ConfigError(
            "Each translator knows words of its own, so that --known-words is for one: evaluate each alone."
        )
    experiments = _experiments(paths)
    experiment, data = experiments[0], [one.data for one in experiments]
    if len(paths) > 1 and not together and data[0].languages != data[1].languages:
        raise ConfigError(
            f"Two translators are compared on one text, but {paths[0]} translates {data[0].source} to {data[0].target} "
            f"and {paths[1]} {data[1].source} to {data[1].target}: evaluate each alone."
        )
    to = choose_direction(data[0].directions, request.to)[1] if request.to else ""
    if request.pairs:
        texts: Mapping[str, Iterable[Pair]] = {request.pairs[0].name: AlignedFiles(*request.pairs)}
    elif request.data:
        texts = _given_data(request.data, request.to, data[0])
    else:
        own = own_splits(paths[0], experiment, pair_splits, "--source and --reference", report)
        texts = {name: part for name, part in own.items() if to in ("", part.languages[1])}

    def score(translator: TranslationPredictor, text: DigestedText[Pair]) -> TranslationScores:
        if translator.directions:
            translator = translator.with_languages(text.languages[1] or to, text.languages[0])
        return score_translations(translator, text, experiment, request.search, report)

    def digest() -> dict[str, DigestedText[Pair]]:
        return {part: DigestedText(text) for part, text in texts.items()}

    if together:
        mean = cast(Mean, request.mean or "arithmetic")
        translator = load_together(paths, mean, request.fusion, report=report, precision=request.precision)
        read = digest()
        results = {part: score(translator, text) for part, text in read.items()}
        digests = {part: text.fingerprint for part, text in read.items()}
        found = [ScoredRuns(_combination_name(paths, mean, request.fusion), results, digests)]
    else:
        found = [
            score_run(path, lambda _: digest(), score, TranslationScores.metrics, request, report) for path in paths
        ]
    first, *others = (one.results for one in found)
    compared = {part: compare(first[part], others[0][part]) for part in texts} if others else {}
    if request.details:
        found = [one._replace(results=_with_groups(paths[0], experiment, one.results, report)) for one in found]
    if len(texts) > 1 and len(data[0].directions) > 1:
        found = [one._replace(means=_means(one.results.values())) for one in found]
    return Answer(found, compared)


def _means(results: Collection[TranslationScores]) -> dict[str, float]:
    """Return the mean BLEU and chrF, under the conditions that the experiment names."""
    both = zip(*(one.scores[one.conditions[0]] for one in results), strict=True)
    return {scores[0].name: sum(score.value for score in scores) / len(results) for scores in both}


def _given_data(path: Path, to: str, data: PairData) -> Mapping[str, PairCorpus]:
    """Return pairs of a file or folder, in the languages before it, or else in those of a run."""
    languages, place = languages_named([path]), Path(split_directions(str(path))[1])
    source, target = choose_direction(data.directions, languages.get("target", to), languages.get("source", ""))
    corpus = pair_corpus(place, source or data.source, target, data.names)
    return {place.name: replace(corpus, languages=(source, target))}


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
    language = translator.languages[1]
    for condition in conditions:
        metric_of("BLEU", language, condition)  # a missing tokeniser is reported before the work
    kept = [pair for pair in pairs if not search.known or translator.knows(*pair)]
    if search.known and not kept:
        raise DataError("Every pair of the text has unknown words on one side or the other: score all of them.")
    sources, references = [source for source, _ in kept], [reference for _, reference in kept]
    resolved = search.resolve(translator.beam, translator.length_penalty, translator.length_models)
    resolved = resolved._replace(protect=translator.protect if search.protect is None else search.protect)
    return TranslationScores(
        resolved,
        language,
        conditions,
        sources,
        references,
        translator.translate(sources, resolved, report=report),
        precision_of(translator.runtime.inference_backend),
        lowercased=experiment.text.lowercase,
    )


def _experiments(paths: Sequence[Path]) -> list[TranslationExperiment]:
    """Return the experiments of runs that must be translators."""
    found = []
    for path in paths:
        experiment = experiment_of(path)
        if not isinstance(experiment, TranslationExperiment):
            raise ConfigError(f"Several translators can be evaluated, but {path} is not one: evaluate it by itself.")
        found.append(experiment)
    return found


def _combination_name(paths: Sequence[Path], mean: str, fusion: tuple[Path, float] | None) -> str:
    """Return the name of runs that translate as one: with all that changes what they write."""
    translators = f"{mean} mean of {' + '.join(map(str, paths))}" if len(paths) > 1 else str(paths[0])
    return translators if fusion is None else f"{translators} + {fusion[1]:g} x {fusion[0]}"


def compare(first: TranslationScores, second: TranslationScores) -> list[Comparison]:
    """Paired bootstrap of every metric and condition."""
    return list(map(paired_bootstrap, first.segment_metrics(), second.segment_metrics()))


def _with_groups(
    path: Path, experiment: TranslationExperiment, results: Mapping[str, TranslationScores], report: Report
) -> dict[str, TranslationScores]:
    """Return the results with their groups: by the length of the source, and by words that training never showed.

    The latter are left out with a warning where the training split is not at hand.
    """
    lowercase = lowercase_of(experiment.text.lowercase, experiment.data.source)
    groups = {part: dict(by_length(result.sources)) for part, result in results.items()}
    try:
        train = pair_splits(experiment, report).train
        if Run.open(path).load("best").fingerprints.get("data/train") != train.fingerprint:
            raise DataError(f"the training split of {path} is no longer the text that it was trained on.")
        known = frozenset(word for line in train.sources() for word in words_of_text(line, lowercase))
    except AnaphoraError as error:
        report(Note(f"Sentences with unknown words are not told apart: {error}", warning=True))
    else:
        for part, result in results.items():
            groups[part] |= by_unknown_words(result.sources, known, lowercase)
    return {part: replace(result, groups=groups[part]) for part, result in results.items()}


def _student(experiment: TranslationExperiment) -> Table:
    """Return the experiment with one decoder layer of half the size, and greedy search.

    The encoder reads a sentence once, so its size counts little: it is halved only where the decoder has to match it.
    """
    table = experiment.tables()
    encoder, decoder, attention = table["encoder"], table["decoder"], table["attention"]
    tied = attention.get("score", {}).get("kind") == "dot" or decoder["initial_state"] == "copy"
    for side in (encoder, decoder) if tied else (decoder,):
        side |= {"layers": 1, "residual": False, "size": max(1, side["size"] // 2)}
    if not decoder["readout_size"] and table["output"].get("tied"):
        decoder["readout_size"] = table["embedding"]["size"]
    table["evaluation"]["beam"] = 1
    return table


def _answer(runs: Sequence[Path], sources: Iterable[str], beam: int, report: Report) -> Iterator[str]:
    """Yield what translators write together, line by line; empty for a line too long to be a sentence, with a Note."""
    translator = load_together(runs, report=report)

    def refused(number: int, error: Exception) -> None:
        report(Note(f"Left out: {error}", warning=True))

    for translation in translator.stream(sources, SearchOptions(beam), split=False, refused=refused):
        yield translation.text


def _measure(runs: Sequence[Path], corpus: PairCorpus, beam: int, report: Report) -> Mapping[str, float]:
    """Return BLEU and chrF of whole sentences, and sentences per second of processor time."""
    experiment = cast(TranslationExperiment, experiment_of(runs[0]))
    translator, sources = load_together(runs, report=report), list(corpus.sources())
    begin = time.process_time()
    texts = [one.text for one in translator.translate(sources, SearchOptions(beam), report=report)]
    seconds = time.process_time() - begin
    language, condition = experiment.data.target, experiment.evaluation.conditions
    scores = bleu_and_chrf(texts, list(corpus.targets()), language, condition)
    return {score.name: score.value for score in scores} | {"sentences per second": len(sources) / max(seconds, 1e-9)}


DISTILLATION = Distillation(_student, pair_splits, _answer, _measure)
