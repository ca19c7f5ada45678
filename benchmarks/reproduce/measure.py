"""The figures of one trained run, by name: what a table's columns and findings are made of."""

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from anaphora import recipes
from anaphora.errors import ConfigError, DataError
from anaphora.evaluation.alignment import agreement
from anaphora.evaluation.breakdown import by_length
from anaphora.events import Report
from anaphora.experiment.overrides import read_table
from anaphora.experiment.run_training import train
from anaphora.formats.pharaoh import Links, words_between_spaces
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.options import SearchOptions
from anaphora.run.summary import about
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.data_table import PairData
from anaphora.tasks.evaluation import Request, Results
from anaphora.tasks.registry import parse
from anaphora.tasks.runs import load, task_at
from anaphora.tasks.transduce.task import TransductionScores
from anaphora.tasks.translation.config import TranslationExperiment
from anaphora.tasks.translation.evaluation import TranslationScores, compare
from anaphora.tasks.translation.predictor import TranslationPredictor
from anaphora.text.tokenization import Word
from benchmarks.reproduce.table import Job

Figures = dict[str, float]


def measure(job: Job, report: Report, aligners: Path | None = None) -> Figures:
    """The figures of the job's own first test part, of its validation, and of its size.

    ``bleu`` and ``chrf`` are under the conditions that the experiment names, "bleu, source 11-20 words" of those alone.
    "bleu ahead, at least" and "at most" hold how far it is ahead of the translations that it is compared with, in 95 of
    100 draws of the test sentences. With a folder for ``aligners``, attention's word links are compared with those of
    an aligner of the same pairs, over all words ("links") and over source words that their sentence has twice or more
    ("links, repeated words").
    """
    found = about(job.run)
    figures: Figures = {"parameters": found.total_parameters}
    figures |= {f"validation {name}": value for name, value in found.validation.items()}
    translates = isinstance(job.experiment, TranslationExperiment)
    aligner = _aligner(job.experiment, aligners, report) if aligners and translates else None
    began = time.monotonic()
    result = next(iter(_results(job, aligner, report).values()))
    seconds = time.monotonic() - began
    if isinstance(result, TransductionScores):
        figures |= {"word errors": 100 * (1 - result.scores.accuracy)}
        return figures | ({"without": 100 * (1 - result.without.accuracy)} if result.without else {})
    if not isinstance(result, TranslationScores):
        return figures | {"perplexity": result.perplexity, "bits per character": result.bits_per_character}
    bleu, chrf = next(iter(result.scores.values()))
    figures |= {"bleu": bleu.value, "chrf": chrf.value, "sentences a second": len(result.outputs) / seconds}
    if isinstance(job.experiment.text, Word):
        figures["unknown words"] = result.unknown
        with suppress(DataError, ConfigError):  # every pair has unknown words, or the translator annotates them
            [known, *_] = _results(job, aligner, report, known=True).values()
            assert isinstance(known, TranslationScores)
            figures["bleu, of known words"] = next(iter(known.scores.values()))[0].value
    for group, (_, (of_group, _)) in replace(result, groups=dict(by_length(result.sources))).of_groups().items():
        figures[f"bleu, {group}"] = of_group.value
    if job.beside:
        figures |= _ahead(job.beside, result, report)
    return figures | (_links(job.run, result, aligner, report) if aligner else {})


def _results(job: Job, aligner: AlignmentPredictor | None, report: Report, *, known: bool = False) -> Results:
    """What comes of the job's search, or of the text as it stands; of pairs of ``known`` words alone if so."""
    search = SearchOptions(known=known)
    if aligner:
        translations: dict[str, list[str]] = {}
        for entry in aligner.dictionary():
            translations.setdefault(entry.source, []).append(entry.target)
        if job.system.replace_unknown and not known:  # of known words alone there is none to replace
            search = search._replace(replace_unknown={word: found[0] for word, found in translations.items()})
        if job.system.candidates:
            search = search._replace(candidates=Candidates(translations, job.system.candidates))
    if job.language_model or job.ensemble:
        fusion = (job.language_model, job.system.fusion_weight) if job.language_model else None
        request = Request(search=search, fusion=fusion, ensemble=bool(job.ensemble), keep=False)
        return _scored(job.ensemble or [job.run], request, report)
    return _scored([job.run], Request(search=search, keep=False), report)


def _scored(runs: Sequence[Path], request: Request, report: Report) -> Results:
    return task_at(runs[0]).evaluate(runs, request, report).scored[0].results


def _ahead(beside: Path, result: TranslationScores, report: Report) -> Figures:
    """How far the translations are ahead of those of another run, by paired bootstrap."""
    other = next(iter(_scored([beside], Request(keep=False), report).values()))
    assert isinstance(other, TranslationScores)
    low, high = compare(other, result)[0].interval
    return {"bleu ahead, at least": low, "bleu ahead, at most": high}


def _aligner(experiment: ExperimentBase, folder: Path, report: Report) -> AlignmentPredictor:
    """The aligner that learns from what a translator does, trained once."""
    data = experiment.data.model_dump(mode="json", include=set(PairData.model_fields))
    run = folder / hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
    if not (run / "latest").exists():
        shutil.rmtree(run, ignore_errors=True)
        train(parse(read_table(recipes.read("aligner"), "aligner.toml") | {"data": data}, "aligner.toml"), run, report)
    return cast(AlignmentPredictor, load(run))


def _links(run: Path, result: TranslationScores, aligner: AlignmentPredictor, report: Report) -> Figures:
    """How far attention links the words of the references as the aligner does, 100 being all; nothing without any."""
    pairs = (result.sources, result.references)
    try:
        found = cast(TranslationPredictor, load(run)).align(*pairs, report=report)
    except ConfigError:  # no attention, or none that given translations have
        return {}
    links = aligner.align(*pairs)
    repeated = (
        [_of_repeated(one, source) for one, source in zip(side, pairs[0], strict=True)] for side in (found, links)
    )
    return {"links": 100 * agreement(found, links).f1, "links, repeated words": 100 * agreement(*repeated).f1}


def _of_repeated(links: Links, source: str) -> Links:
    """The links of the source words that stand there twice or more."""
    words = words_between_spaces(source.lower())
    counts = Counter(words)
    return frozenset((i, j) for i, j in links if counts[words[i]] > 1)
