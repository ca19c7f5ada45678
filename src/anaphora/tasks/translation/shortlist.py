"""Shortlist of a run: the target tokens that translations of its source tokens are likely to have.

A sentence's candidates are the most frequent target tokens and, of each of its own tokens, the most probable
translations and the token itself, which names and numbers need. A word aligner learns the translations from the pairs
that the run was trained on.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from anaphora.batch import Ids, pad
from anaphora.errors import ConfigError, DataError
from anaphora.events import Note, Report, silent
from anaphora.files import sha256
from anaphora.prediction.candidates import Shortlist
from anaphora.run import Run, shortlists
from anaphora.run.layout import check_writable
from anaphora.run.shortlists import TokenShortlist
from anaphora.text.tokenizer import EOS, MARKS, UNK, Tokenizer
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.data.example_store import ExampleStore
    from anaphora.models.alignment.aligner import AlignerConfig, Direction

LONGEST = 100
"""Maximum number of translations that are kept of a source token."""

Rows = Sequence[Sequence[int]]


class RunShortlist:
    """The shortlist of one run folder, read when it is first used."""

    def __init__(self, path: Path, source: Tokenizer, target: Tokenizer) -> None:
        self._path, self._source, self._target = path, source, target

    @cached_property
    def tokens(self) -> TokenShortlist:
        """Return the tokens; ConfigError where the run has no shortlist, and as ``run.shortlists.read``."""
        sizes = self._source.symbols.size, self._target.symbols.size
        found = shortlists.read(self._path, digest_of(self._source, self._target), sizes)
        if found is None:
            raise ConfigError(f"{self._path} has no shortlist: make one with anaphora shortlist {self._path}.")
        return found


def candidates_of(shortlist: TokenShortlist, rows: Rows, asked: Shortlist, also: Rows) -> Ids:
    """Return the candidates of sentences of such source tokens, each a function of its own sentence; ids rise.

    ``also`` are tokens that the translation of each must be able to have.
    """
    frequent_V, translations_M, ends_S = shortlist
    always = np.zeros(len(frequent_V), dtype=bool)
    always[[UNK, EOS]] = True
    always[frequent_V[: asked.frequent]] = True
    found = []
    for row, needed in zip(rows, also, strict=True):
        inside = always.copy()
        inside[list(needed)] = True
        for token in row:
            start = ends_S[token - 1] if token else 0
            inside[translations_M[start : min(ends_S[token], start + asked.each)]] = True
        found.append(np.flatnonzero(inside))
    return pad(found)


def digest_of(source: Tokenizer, target: Tokenizer) -> str:
    """SHA-256 of the vocabularies that a shortlist belongs to."""
    return sha256(f"{source.fingerprint} {target.fingerprint}".encode())


def make_shortlist(path: Path, report: Report = silent) -> TokenShortlist:
    """Learn the shortlist of a run from its training pairs, and store it in the run folder.

    Raises ConfigError for another kind of model, DataError where the training pairs are no longer there or others, and
    as ``run.shortlists.write``.
    """
    from anaphora.data.example_store import example_store
    from anaphora.data.pairs import pair_fields
    from anaphora.models.alignment.aligner import AlignerConfig
    from anaphora.tasks.evaluation import check_found
    from anaphora.tasks.runs import experiment_of
    from anaphora.tasks.training_job import pair_splits
    from anaphora.tasks.translation.config import TranslationExperiment

    experiment = experiment_of(path)
    if not isinstance(experiment, TranslationExperiment):
        raise ConfigError(f"A shortlist is of a translator, but {path} is none: give another run.")
    check_writable(path)
    run = Run.open(path)
    tokenizers = run.tokenizers()
    source, target = tokenizers["source"], tokenizers["target"]
    check_found(path, experiment, "the --data of another run")
    train = pair_splits(experiment, report).train
    if run.load("best", report).fingerprints.get("data/train") != train.fingerprint:
        raise DataError(f"The training pairs of {path} are no longer those that it was trained on: put them back.")
    with TemporaryDirectory() as folder:
        fields, longest = pair_fields(tokenizers), experiment.data.max_length
        store = example_store(train, fields, Path(folder), noun="pair", longest=longest, report=report)
        found = learn_shortlist(store, source, target, AlignerConfig(), report)
    shortlists.write(path, digest_of(source, target), found)
    return found


def learn_shortlist(
    store: "ExampleStore", source: Tokenizer, target: Tokenizer, config: "AlignerConfig", report: Report = silent
) -> TokenShortlist:
    """Return the shortlist that encoded pairs show: from an even sample of them where memory cannot hold all links."""
    from anaphora.models.alignment.aligner import Direction, even_sample

    sources, targets = store.all_rows()
    rows = even_sample(sources, targets, config.max_word_pairs)
    counts_V = np.bincount(targets.ids[:], minlength=target.symbols.size)
    if len(rows) < len(store):
        report(Note(f"Translations are learnt from an even sample of {len(rows):,} of {inflect(len(store), 'pair')}."))
        sources, targets = sources.rows(rows), targets.rows(rows)
    direction = Direction(config, target.symbols.size)
    direction.fit(sources, targets, "linking source to target", report)
    likely = [own[:LONGEST] for own in _by_source(direction, source.symbols.size)]
    numbers_of = {one: range(one.symbols.size - len(one.tags)) for one in (source, target)}
    places = {piece: token for token, piece in enumerate(target.pieces(numbers_of[target]))}
    for token, piece in enumerate(source.pieces(numbers_of[source])):
        if token >= len(MARKS) and piece in places:
            likely[token] = [places[piece], *(one for one in likely[token] if one != places[piece])]
    frequent_V = np.argsort(-counts_V, kind="stable").astype(np.int32)
    ends_S = np.cumsum([len(own) for own in likely])
    translations_M = np.concatenate([np.array(own, dtype=np.int32) for own in likely])
    return TokenShortlist(frequent_V, translations_M, ends_S)


def _by_source(direction: "Direction", size: int) -> list[list[int]]:
    """Return the translations of each source token, the most probable first; special tokens have none."""
    lexicon = direction.lexicon
    sources, targets = lexicon.keys // lexicon.size, lexicon.keys % lexicon.size
    order = np.lexsort((targets, -lexicon.probs, sources))
    bounds = np.searchsorted(sources[order], np.arange(size + 1)).tolist()
    ordered = targets[order].tolist()
    return [ordered[start:end] if token >= len(MARKS) else [] for token, (start, end) in enumerate(pairwise(bounds))]
