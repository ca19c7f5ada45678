"""Smaller translators that are trained on what larger ones write (Kim and Rush 2016)."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from anaphora.data.corpora import PairCorpus
from anaphora.evaluation.bleu import bleu, chrf
from anaphora.events import Note, Report
from anaphora.prediction.options import SearchOptions
from anaphora.tasks.runs import experiment_of
from anaphora.tasks.task import Distillation, Table
from anaphora.tasks.training_job import pair_splits
from anaphora.tasks.translation.combination import load_together
from anaphora.tasks.translation.config import TranslationExperiment


def student(experiment: TranslationExperiment) -> Table:
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


def answers(runs: Sequence[Path], sources: Iterable[str], beam: int, report: Report) -> Iterator[str]:
    """Yield what translators write together, line by line; empty for a line too long to be a sentence, with a Note."""
    translator = load_together(runs, report=report)

    def refused(number: int, error: Exception) -> None:
        report(Note(f"Left out: {error}", warning=True))

    for translation in translator.stream(sources, SearchOptions(beam), split=False, refused=refused):
        yield translation.text


def measured(runs: Sequence[Path], corpus: PairCorpus, beam: int, report: Report) -> Mapping[str, float]:
    """Return BLEU and chrF of whole sentences, and sentences per second of processor time."""
    experiment = cast(TranslationExperiment, experiment_of(runs[0]))
    translator, sources = load_together(runs, report=report), list(corpus.sources())
    begin = time.process_time()
    texts = [one.text for one in translator.translate(sources, SearchOptions(beam), report=report)]
    seconds = time.process_time() - begin
    language, condition = experiment.data.target, experiment.evaluation.conditions
    references = list(corpus.targets())
    found = {
        score.name: score.value
        for score in (
            bleu(texts, references, language=language, condition=condition),
            chrf(texts, references, language=language, condition=condition),
        )
    }
    return found | {"sentences per second": len(sources) / max(seconds, 1e-9)}


DISTILLATION = Distillation(student, pair_splits, answers, measured)
