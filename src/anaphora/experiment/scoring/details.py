"""A test set in groups of sentences: by the length of the source, and by words that training never showed."""

from collections.abc import Set
from pathlib import Path

from anaphora.errors import AnaphoraError, DataError
from anaphora.evaluation.breakdown import Groups, by_length, by_unknown_words, words_of_text
from anaphora.events import Note, Report, silent
from anaphora.experiment.conduct import experiment_of
from anaphora.experiment.schema import TranslationExperiment
from anaphora.experiment.scoring.keeping import Results
from anaphora.experiment.scoring.translation_scores import TranslationScores
from anaphora.experiment.tasks.pairs import pair_parts
from anaphora.run import Run


def groups_of(path: Path, results: Results, report: Report = silent) -> dict[str, Groups]:
    """The sentences of every part that the translator in ``path`` was scored on, by the name of their group.

    Unknown words are left out with a word of warning where the training part is not at hand.
    """
    scores = {part: result for part, result in results.items() if isinstance(result, TranslationScores)}
    groups = {part: dict(by_length(result.sources)) for part, result in scores.items()}
    experiment = experiment_of(path)
    assert isinstance(experiment, TranslationExperiment)
    try:
        known = _training_words(path, experiment, report)
    except AnaphoraError as error:
        report(Note(f"Sentences with unknown words are not told apart: {error}", warning=True))
        return dict(groups)
    for part, result in scores.items():
        groups[part] |= by_unknown_words(result.sources, known, experiment.text.lowercase)
    return dict(groups)


def _training_words(path: Path, experiment: TranslationExperiment, report: Report) -> Set[str]:
    train = pair_parts(experiment, report).train
    if Run.open(path).load("best").fingerprints.get("data/train") != train.fingerprint:
        raise DataError(f"the training part of {path} is no longer the text that it was trained on.")
    lowercase = experiment.text.lowercase
    return frozenset(word for line in train.sources() for word in words_of_text(line, lowercase))
