"""Unknown tokens and languages of a new text, for the run that training starts from."""

from collections.abc import Mapping
from pathlib import Path

from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.datacheck.findings import RULES
from anaphora.datacheck.tokens import unknown_tokens
from anaphora.events import Note, Report
from anaphora.tasks.base import ExperimentBase as Experiment
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer


def say_what_is_unknown(
    path: Path,
    experiment: Experiment,
    train: PairCorpus | TextCorpus,
    tokenizers: Mapping[str, Tokenizer],
    report: Report,
) -> None:
    """Report of every side how much of the training split is outside ``tokenizers``, those of the run ``path``.

    How much is worth a word, the rules of ``anaphora check`` say.
    """
    words, languages = isinstance(experiment.text, Word), experiment.data.languages
    pairs = len(languages) > 1
    names = languages if pairs else {"text": ""}
    if experiment.start.vocabulary == "only":
        remedy = ", as models that go together need; for fewer, train that run with a larger text.size"
    else:
        turned = ", or exchange --source and --target if they are the wrong way round" if pairs else ""
        remedy = f": extend it (--vocabulary extend){turned}"
    rule = RULES["unknown-words" if words else "unknown-tokens"]
    for found in unknown_tokens(train.name, train, tokenizers, names, rule):
        report(
            Note(
                f"{found.count:,} of {found.total:,} {'words' if words else 'tokens'} "
                f"({found.count / found.total:.1%}) of the training split{f' ({found.side})' if pairs else ''} "
                f"are outside the vocabulary of {path} and trained on as <unk>{remedy}.",
                warning=found.severity == "warning",
            )
        )


def say_what_is_swapped(path: Path, experiment: Experiment, begun: Experiment, report: Report) -> None:
    """Report where each side is in the language that the other had in the run ``path``, which was ``begun`` so."""
    new, old = list(experiment.data.languages.values()), list(begun.data.languages.values())
    if len(set(new)) > 1 and new == old[::-1]:
        report(
            Note(
                f"{path} was trained from '{old[0]}' to '{old[1]}', and what each of its sides has learnt is "
                f"taken for the other language here: exchange --source and --target unless that is meant.",
                warning=True,
            )
        )
