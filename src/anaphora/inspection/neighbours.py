"""The training data whose states are nearest to those of a text: where a model learnt its tokens.

The state of a token is the vector that the output layer predicts it from, as in nearest-neighbour language models
(Khandelwal et al. 2020, section 2) and machine translation (2021, section 2). The index is a table of all states of the
training split in the run folder, in half precision; it is searched from end to end, so that what is found is exact.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from anaphora.data.columns import Bound, Table, Writer
from anaphora.evaluation.alignment import words_of
from anaphora.events import Note, Report, silent
from anaphora.formats.json_text import Jsonable
from anaphora.inspection.labels import labels
from anaphora.inspection.subject import Subject, demand_page
from anaphora.inspection.training_states import TrainingSplit, all_states, example_states, training_split
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.language_model import LanguageModel
from anaphora.prediction.examples import GivesExamples
from anaphora.text.tokenizer import EOS, MARKS
from anaphora.wording import counted

INDEX = Path("encoded") / "states"
"""Place of the states in a run's folder; like what lies beside them, it can be removed and is then made again."""

_HALF = np.dtype("<f2")
_BLOCK = 1 << 15
"""States that are compared at once."""
_END = (MARKS[EOS],)
_CONTEXT = 4
"""Tokens that a text shows on either side of a neighbour."""


@dataclass(frozen=True)
class Neighbour:
    """A token of a training pair, or of a line that a language model was trained on."""

    pair: int
    """The number of its pair or line in the training split, from 1."""
    source: str
    """Source of the pair; empty for language models."""
    target_pieces: tuple[str, ...]
    place: int
    """Place of the token in ``target_pieces``, from 0."""
    distance: float
    """Euclidean, between its state and that of the output token."""

    @property
    def context(self) -> str:
        """The token in brackets, and what stands around it."""
        shown = labels(self.target_pieces)
        shown[self.place] = f"[{shown[self.place]}]"
        low, high = max(0, self.place - _CONTEXT), self.place + _CONTEXT + 1
        return " ".join([*(["\u2026"] if low else []), *shown[low:high], *(["\u2026"] if high < len(shown) else [])])


@dataclass(frozen=True)
class TrainingNeighbours(Jsonable):
    """For each token of one output, the nearest tokens of the training split."""

    run: str
    text: str
    outputs: tuple[str, ...]
    nearest: tuple[tuple[Neighbour, ...], ...]
    """For each of them, the nearest first."""

    def by_word(self, most: int) -> list[list[Neighbour]]:
        """For each word between spaces, at most ``most`` neighbours of its tokens: the nearest first, a pair once."""
        tokens = self.outputs[:-1] if self.outputs[-1:] == _END else self.outputs
        words = words_of(tokens)
        found: list[dict[int, Neighbour]] = [{} for word in {*words} - {None}]
        pairs = [(one, word) for word, own in zip(words, self.nearest, strict=False) for one in own]
        for one, word in sorted(pairs, key=lambda pair: pair[0].distance):
            if word is not None:
                found[word].setdefault(one.pair, one)
        return [list(own.values())[:most] for own in found]

    def __str__(self) -> str:
        lines = [f"{self.run}: {self.text}"]
        for token, own in zip(labels(self.outputs), self.nearest, strict=True):
            lines.append(f"  {token}")
            lines += [f"    {one.distance:7.3f}  {one.pair:>9,}  {one.context}{_read(one)}" for one in own]
        return "\n".join(lines)


def _read(one: Neighbour) -> str:
    return f"   <- {one.source}" if one.source else ""


class Index(NamedTuple):
    """The states of a training split."""

    states: Any
    """A column of N x ``width`` numbers, one row after the other."""
    rows: Any
    """[N]: the row of the split that each state is from."""
    places: Any
    """[N]: the place of its token in the row."""
    width: int
    split: TrainingSplit


def lacks_neighbours(subject: Subject) -> str:
    """Return the reason that a run has no training data to show; empty where it has."""
    model = subject.trained.model
    if not isinstance(model, EncoderDecoder | LanguageModel) or not isinstance(subject.predictor, GivesExamples):
        return "it is neither a translator nor a recurrent language model"
    reads = "text" if isinstance(model, LanguageModel) else "source"
    return "" if reads in subject.trained.tokenizers else "it reads no text"


def neighbours(
    subject: Subject, text: str, target: str | None = None, nearest: int = 5, report: Report = silent
) -> TrainingNeighbours:
    """Return the neighbours of each token of ``target`` or the greedy translation; of a language model, of ``text``.

    The first call makes the index, in the run folder. Raises ConfigError for a run of another kind and for a
    sentence longer than a page; DataError where the training data is gone or is not what the run was trained on.
    """
    return neighbours_in(index_of(subject, report), subject, text, target, nearest)


def neighbours_in(
    index: Index, subject: Subject, text: str, target: str | None = None, nearest: int = 5
) -> TrainingNeighbours:
    """Return the same from an open index."""
    example = subject.example(text, target)
    demand_page(example.predicts)
    found = []
    queries_TW = example_states(subject, example.batch)
    for distances, places in zip(*nearest_of(queries_TW, index, nearest), strict=True):
        own = []
        for distance, place in zip(distances.tolist(), places.tolist(), strict=True):
            row = index.split.row(int(index.rows[place]))
            own.append(Neighbour(row.number, row.source, row.pieces, int(index.places[place]), distance))
        found.append(tuple(own))
    return TrainingNeighbours(subject.name, text, example.predicts, tuple(found))


def index_of(subject: Subject, report: Report = silent) -> Index:
    """Return the index of a run, read or made; errors as for ``neighbours``."""
    subject.demand("has no training data to show", lacks_neighbours(subject))
    split = training_split(subject, report)
    example = subject.example("a", "" if "target" in subject.trained.tokenizers else None)
    width = example_states(subject, example.batch).shape[1]

    def fill(into: Writer) -> dict[str, int]:
        done = 0
        for states_NW, rows_N, places_N in all_states(subject, split):
            into.write("states", states_NW.half().flatten().numpy())
            into.write("rows", rows_N.tolist())
            into.write("places", places_N.tolist())
            done += len(rows_N)
            into.tell(done)
        return {"width": width}

    columns: dict[str, Bound] = {"states": _HALF, "rows": len(split), "places": split.longest}
    folder = subject.trained.path / INDEX
    made_from = [split.fingerprint, _digest(subject.trained.model)]
    what = "states of the training split"
    table = Table(folder, made_from, columns, fill, task=what, total=split.tokens, report=report)
    size = len(table["states"]) * _HALF.itemsize
    report(Note(f"{folder}: {counted(len(table['rows']), 'state')} of {width} numbers, {size / 1e6:,.1f} MB."))
    return Index(table["states"], table["rows"], table["places"], width, split)


def nearest_of(queries_TW: Tensor, index: Index, count: int) -> tuple[Tensor, Tensor]:
    """Distances and places of the nearest states of each query, T x K, the nearest first."""
    queries_TW = queries_TW.float()
    squares_T = (queries_TW**2).sum(1, keepdim=True)
    best_TK, places_TK = torch.empty(len(queries_TW), 0), torch.empty(len(queries_TW), 0, dtype=torch.int64)
    for start in range(0, len(index.rows), _BLOCK):
        flat = index.states[start * index.width : (start + _BLOCK) * index.width]
        states_NW = torch.from_numpy(np.asarray(flat, dtype=np.float32)).view(-1, index.width)
        distances_TN = squares_T - 2 * (queries_TW @ states_NW.T) + (states_NW**2).sum(1)
        here_TN = torch.arange(start, start + len(states_NW)).expand(len(queries_TW), -1)
        best_TK, order_TK = torch.cat([best_TK, distances_TN], 1).topk(
            min(count, best_TK.shape[1] + len(states_NW)), largest=False
        )
        places_TK = torch.cat([places_TK, here_TN], 1).gather(1, order_TK)
    return best_TK.clamp(min=0).sqrt(), places_TK


def _digest(model: torch.nn.Module) -> str:
    """Return the SHA-256 of all weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().contiguous().cpu().view(torch.uint8).numpy().data)
    return digest.hexdigest()
