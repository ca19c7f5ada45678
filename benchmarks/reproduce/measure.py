"""The figures of one trained run, by name: what a table's columns and findings are made of."""

import time
from pathlib import Path

from anaphora.evaluation.breakdown import by_length
from anaphora.evaluation.perplexity import Prediction
from anaphora.events import Report
from anaphora.experiment.assess import assess
from anaphora.experiment.translation_scores import TranslationScores
from anaphora.run.about import about

Figures = dict[str, float]


def measure(path: Path, report: Report) -> Figures:
    """The figures of the run's own first test part, of its validation, and of its size.

    ``bleu`` and ``chrf`` are under the conditions that the experiment names, "bleu, source 11-20 words" of those alone.
    """
    found = about(path)
    figures: Figures = {"parameters": found.total_parameters}
    figures |= {f"validation {name}": value for name, value in found.validation.items()}
    began = time.monotonic()
    results = assess(path, report=report)
    seconds = time.monotonic() - began
    result = next(iter(results.values()))
    if isinstance(result, Prediction):
        return figures | {"perplexity": result.perplexity, "bits per character": result.bits_per_character}
    count = sum(scores.sentences for scores in results.values() if isinstance(scores, TranslationScores))
    bleu, chrf = list(result.scores.values())[-1]
    figures |= {"bleu": bleu.value, "chrf": chrf.value, "sentences a second": count / seconds}
    for group, (_, (of_group, _)) in result.of_groups(dict(by_length(result.sources))).items():
        figures[f"bleu, {group}"] = of_group.value
    return figures
