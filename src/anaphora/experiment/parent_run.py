"""A new run that starts from the weights and vocabulary of an older one (``[start]``, ``train --from``)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from anaphora.data.corpora import PairCorpus, TextCorpus
from anaphora.datacheck.findings import RULES
from anaphora.datacheck.splits import unknown_tokens
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.nn.outputs.class_factored import ClassFactoredOutput
from anaphora.run import Run
from anaphora.run.weights import as_tensors, tensors_of
from anaphora.tasks.base import AnyExperiment, ExperimentBase
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import load_fitting, stored_experiment
from anaphora.text.tokenization import Word
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.vocabulary_extension import extend_tokenizer

Tokenizers = Mapping[str, Tokenizer]

_SHOWN = 4
"""Matrices that are named where more of them do not fit."""
_REPLAY = 0.5
_RATE = 0.1
_SMALL = {
    "schedule": {"kind": "linear"},
    "moving_average": 0.95,  # the weights themselves lose a point of BLEU on old pairs here and there
    "epochs": 20,
    "validate_every": 60,
    "patience": 2,
    "metric": "loss",
}


class Parent:
    """The run that an experiment starts from."""

    def __init__(self, experiment: ExperimentBase) -> None:
        """Open the run that ``experiment.start`` names.

        Raises RunError when it is none, ConfigError when it is of another task or has another tokenizer, and where
        only its vocabulary is asked for, when it has none for the task.
        """
        self._path = Path(experiment.start.run)
        self._run = Run.open(self._path)
        self._mode = experiment.start.vocabulary
        self.begun = begun = stored_experiment(self._run)
        """Experiment of the parent when it was begun."""
        self._old = self._run.tokenizers()
        if self._mode == "only":
            if isinstance(begun.text, Word) and begun.text.rare != "none":
                raise ConfigError(
                    f"The vocabulary of {self._path} annotates rare words (text.rare = '{begun.text.rare}'), which no "
                    f"other text can have: take that of a translator without text.rare."
                )
            self._old = task_of(experiment).tokenizers_of(self._old, self._path)
            return
        if begun.task != experiment.task:
            raise ConfigError(
                f"A run starts from one of the same task, but {self._path} is '{begun.task}' and this is "
                f"'{experiment.task}': name another run, or leave out the recipe."
            )
        # how lines are split, and which segmentation is sampled, leave the vocabulary as it is
        old, new = (
            asdict(replace(text.without_sampling(), sentences="split")) for text in (begun.text, experiment.text)
        )
        unlike = [
            f"text.{key} was {old.get(key, 'not there')} and is {new.get(key, 'not there')}"
            for key in old | new
            if old.get(key) != new.get(key)
        ]
        if unlike:
            raise ConfigError(
                f"A run that starts from {self._path} takes over its vocabulary, but would tokenize text otherwise: "
                f"{'; '.join(unlike)}. Leave out the recipe, or give it the same [text]."
            )

    def adopt(self, experiment: AnyExperiment) -> AnyExperiment:
        """Return the experiment with the parent's [text], where its vocabulary alone is taken over.

        Raises ConfigError where the one does not go with the other.
        """
        if self._mode != "only":
            return experiment
        text, where = self.begun.text, f"The experiment with the vocabulary of {self._path}"
        tables = experiment.tables() | {"text": asdict(text if experiment.resegments else text.without_sampling())}
        adopted = type(experiment).parse(tables, where)
        for refusal in adopted.refusals():
            raise ConfigError(f"{where}: {refusal}")
        return adopted

    def tokenizers(self, learn: Callable[[], Tokenizers]) -> dict[str, Tokenizer]:
        """The parent's vocabularies, extended by what ``learn`` finds in the new text where that is asked for."""
        if self._mode != "extend":
            return self._old
        new, made = learn(), dict[int, Tokenizer]()
        for side, old in self._old.items():  # sides that share a vocabulary go on sharing it
            if id(old) not in made:
                made[id(old)] = extend_tokenizer(self.begun.text, old, new[side])
                made[id(old)].rule, made[id(old)].variants = old.rule, old.variants
        return {side: made[id(old)] for side, old in self._old.items()}

    def report_new_tokens(self, experiment: ExperimentBase, train: PairCorpus | TextCorpus, report: Report) -> None:
        """Report tokens and languages of ``experiment`` and its training split that the run has not seen."""
        languages = experiment.data.languages
        if self._mode != "extend" and experiment.extends_vocabulary:
            self._report_unknown(isinstance(experiment.text, Word), languages, train, report)
        known, kept = (getattr(one.data, "directions", ()) for one in (self.begun, experiment))
        if self._mode != "only" and len(known) > 1 and (lost := [pair for pair in known if pair not in kept]):
            names = ", ".join(map("-".join, lost))
            report(
                Note(
                    f"{self._path} also translates {names}, but there is no data for that here, so the new run forgets "
                    f"it. To keep a pair, give its data too, with the pair in front (--data {'-'.join(lost[0])}=FILE).",
                    warning=True,
                )
            )
        new, old = list(languages.values()), list(self.begun.data.languages.values())
        takes_sides = self._mode != "only" or not self.begun.text.one_vocabulary
        if takes_sides and len(set(new)) > 1 and new == old[::-1]:
            report(
                Note(
                    f"{self._path} was trained from '{old[0]}' to '{old[1]}', and what each of its sides has learnt is "
                    f"taken for the other language here: exchange --source and --target unless that is meant.",
                    warning=True,
                )
            )

    def _report_unknown(
        self, words: bool, languages: Mapping[str, str], train: PairCorpus | TextCorpus, report: Report
    ) -> None:
        """Report of every side how much of the training split is outside the vocabulary.

        How much is worth a word, the rules of ``anaphora check`` say.
        """
        pairs = len(languages) > 1
        if self._mode == "only":
            remedy = ", as models that go together need; for fewer, train that run with a larger text.size"
        else:
            turned = ", or exchange --source and --target if they are the wrong way round" if pairs else ""
            remedy = f": extend it (--vocabulary extend){turned}"
        rule, names = RULES["unknown-words" if words else "unknown-tokens"], languages if pairs else {"text": ""}
        for found in unknown_tokens(train.name, train, self._old, names, rule):
            report(
                Note(
                    f"{found.count:,} of {found.total:,} {'words' if words else 'tokens'} "
                    f"({found.count / found.total:.1%}) of the training split{f' ({found.side})' if pairs else ''} "
                    f"are outside the vocabulary of {self._path} and trained on as <unk>{remedy}.",
                    warning=found.severity == "warning",
                )
            )

    def load_into(self, model: torch.nn.Module, tokenizers: Tokenizers, report: Report) -> None:
        """Copy the weights of the parent's best checkpoint into ``model``, rows of old tokens to their new places.

        Raises ConfigError listing what does not fit.
        """
        checkpoint = load_fitting(self._run, self._old, report=report)
        grown = {(old.symbols.size, tokenizers[side].symbols.size) for side, old in self._old.items()}
        theirs = as_tensors(checkpoint.model)
        own, fresh, unfit = tensors_of(model), list[str](), list[str]()
        for name, tensor in own.items():
            old = theirs.get(name)
            if old is None:
                fresh.append(name)
                continue
            if old.shape == tensor.shape:
                tensor.copy_(old)
            elif old.shape[1:] == tensor.shape[1:] and (len(old), len(tensor)) in grown:
                tensor[: len(old)] = old  # tokens are only ever appended
            else:
                then, now = (" x ".join(map(str, one.shape)) for one in (old, tensor))
                unfit.append(f"{name} is {then} there and {now} here")
        if unfit and self._mode == "extend":
            raise ConfigError(
                f"The vocabulary of {self._path} cannot be extended, since the network is laid out by it: "
                f"{_shorten(unfit)}. Keep the vocabulary (--vocabulary keep)."
            )
        if unfit:
            raise ConfigError(
                f"The network does not fit the weights of {self._path}: {_shorten(unfit)}. Give it the sizes of that "
                f"run (anaphora info {self._path}), or leave out the recipe to take them over."
            )
        if len(fresh) == len(own):
            raise ConfigError(
                f"{self._path} has none of this network's weights to go on from: begin with its vocabulary alone "
                f"(--vocabulary only), or with a run of the same kind of model."
            )
        for name, module in model.named_modules():
            counts = theirs.get(f"{name}.counts.observed")
            if isinstance(module, ClassFactoredOutput) and counts is not None:
                module.counts.append(len(counts))  # what is new is in none of the classes that the old counts make
        kept = [name for name in own if name not in fresh]
        report(Note(self._summary(checkpoint.path.name, kept, fresh, tokenizers)))

    def _summary(self, step: str, kept: list[str], fresh: list[str], tokenizers: Tokenizers) -> str:
        sides = "; ".join(
            f"{side} vocabulary: {old.symbols.size:,} of {tokenizers[side].symbols.size:,} tokens kept, "
            f"{tokenizers[side].symbols.size - old.symbols.size:,} new"
            for side, old in self._old.items()
        )
        old_parts = {_part(name) for name in kept}
        news = dict.fromkeys(name if _part(name) in old_parts else f"{_part(name)}.*" for name in fresh)
        new = f" New are {', '.join(news)}." if fresh else ""
        total = len(kept) + len(fresh)
        return f"Starting from {step} of {self._path}: {len(kept)} of {total} matrices and vectors kept.{new} {sides}."


def _part(name: str) -> str:
    """Return the part of the network that a tensor belongs to."""
    return name.partition(".")[0]


def _shorten(differences: list[str]) -> str:
    """Return the first of many, and how many more there are: sizes that differ, differ in most matrices."""
    more = len(differences) - _SHOWN
    return "; ".join([*differences[:_SHOWN], *([f"and {more} more"] if more > 0 else [])])


def usual_replay(older: ExperimentBase) -> float:
    """Return the fraction of old pairs in a batch where nobody says one; 0 for a run whose data cannot be replayed."""
    return _REPLAY if older.to_grow().replays else 0.0


def incremental_table(older: ExperimentBase) -> dict[str, Any]:
    """Return the experiment of ``older`` with small updates, unless it has them since it started so itself."""
    if older.start.replay or not older.to_grow().replays:
        return older.tables()
    table = older.to_grow().tables()
    table["training"] |= _SMALL
    table["training"]["optimizer"]["learning_rate"] *= _RATE
    if table["training"]["optimizer"]["kind"] == "averaged-sgd":  # which averages by itself
        table["training"]["moving_average"] = 0.0
    table["evaluation"]["validation_beam"] = 1  # outputs are searched for BLEU alone
    return table
