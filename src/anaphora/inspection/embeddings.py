"""Word vectors and sentence encodings: nearest neighbours, and a projection to two dimensions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from anaphora.data.columns import stored_column
from anaphora.data.ragged import token_counts
from anaphora.errors import DataError
from anaphora.inspection.result import Result
from anaphora.inspection.subject import Subject, layers_of
from anaphora.nn.embedding import Embedding
from anaphora.tasks.training_job import TRAIN

LIMIT = 2000
"""Sentences that are projected at most."""


@dataclass(frozen=True)
class Neighbours:
    """The words whose vectors are nearest to one."""

    side: str
    word: str
    nearest: tuple[tuple[str, float], ...]
    """Words with the cosine of the angle between their vector and that of ``word``, the greatest first; none where
    training never saw ``word`` on this side."""
    occurrences: tuple[int, ...]
    """Occurrences of ``word``, then of ``nearest``, on this side of the training split; empty where that is gone."""

    def __str__(self) -> str:
        if not self.nearest:
            return f"{self.word} ({self.side}): not in training"
        own, *others = [f" {count:,}x" for count in self.occurrences] or [""] * (len(self.nearest) + 1)
        nearest = (f"{word} {cosine:.2f}{times}" for (word, cosine), times in zip(self.nearest, others, strict=True))
        return f"{self.word} ({self.side}{own}): {', '.join(nearest)}"


@dataclass(frozen=True)
class Projection:
    """Vectors of words or sentences in two dimensions, by principal component analysis."""

    what: str
    """"words" or "sentences"."""
    names: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    explained: tuple[float, float]
    """The fraction of the variance along each axis."""
    groups: tuple[str, ...] = ()
    """Group of each name: the word whose neighbour it is; nothing for sentences."""


@dataclass(frozen=True)
class Embeddings(Result):
    """Vectors that a run has for some words or sentences."""

    run: str
    neighbours: tuple[Neighbours, ...]
    projection: Projection

    def lines(self) -> Iterator[str]:
        yield from map(str, self.neighbours)
        if any(one.nearest and not one.occurrences for one in self.neighbours):
            yield "Without encoded/train in the run, occurrences are not known: shown are all trained words."
        first, second = self.projection.explained
        count = f"{len(self.projection.names):,} {self.projection.what}"
        yield f"{count} in two dimensions: {first:.0%} and {second:.0%} of their variance"


def tables_of(subject: Subject) -> dict[str, Tensor]:
    """Return the word vectors of a run by side (V x D); one table for both sides is that of each."""
    sides = list(subject.trained.tokenizers)
    found = {}
    for name, module in subject.trained.model.named_modules(remove_duplicate=False):
        side = name.removesuffix("embedding").rstrip("_") or next(iter(sides), "")
        if isinstance(module, Embedding) and side in sides:
            found[side] = module.weight.detach().double()
    return found


def lacks_embeddings(subject: Subject) -> str:
    """Return the reason that a run has no word vectors to show; empty where it has."""
    return "" if tables_of(subject) else "it has no table of word vectors"


def word_neighbours(subject: Subject, texts: Sequence[str], nearest: int = 10) -> Embeddings:
    """Return the neighbours of words on every side that knows them, and all of these words in two dimensions.

    Words that training never saw on a side are no neighbours there. Raises ConfigError for a run without word vectors,
    DataError for a word that no side has as one token, and where training saw none of the words.
    """
    tables = tables_of(subject)
    subject.demand("has no word vectors to show", lacks_embeddings(subject))
    counts = {side: _occurrences(subject, side, table_VD) for side, table_VD in tables.items()}
    found, names, groups, vectors = [], list[str](), list[str](), list[Tensor]()
    for word in texts:
        sides = {side: number for side in tables if (number := token_of(subject, side, word)) is not None}
        if not sides:
            raise DataError(f"'{word}' is not one token of {subject.name}: give a word that its vocabulary has.")
        for side, number in sides.items():
            counts_V, is_known = counts[side]
            ids, cosines = _nearest(tables[side], number, counts_V, nearest)
            pieces = [piece.replace("▁", "") or "␣" for piece in subject.trained.tokenizers[side].pieces(ids)]
            own = tuple(counts_V[[number, *ids]].tolist()) if is_known else ()
            found.append(Neighbours(side, word, tuple(zip(pieces, cosines, strict=True)), own))
            rows = [number, *ids] if ids else []
            names += [word, *pieces][: len(rows)]
            groups += [f"{word} ({side})" if len(tables) > 1 else word] * len(rows)
            vectors += [row_D / row_D.norm().clamp(min=1e-12) for row_D in tables[side][rows]]
    if not vectors:
        raise DataError(f"The training of {subject.name} never saw {', '.join(texts)}: give words that it did.")
    points, explained = principal_components(torch.stack(vectors))
    return Embeddings(subject.name, tuple(found), Projection("words", tuple(names), points, explained, tuple(groups)))


def sentence_projection(subject: Subject, texts: Sequence[str]) -> Embeddings:
    """Return encodings of sentences in two dimensions: the last states of the top layer that reads them, side by side.

    Raises ConfigError for a model without recurrent layers, DataError for fewer than three sentences.
    """
    if not 3 <= len(texts) <= LIMIT:
        raise DataError(f"A projection takes 3 to {LIMIT:,} sentences, but {len(texts):,} were given: change that.")
    points, explained = principal_components(torch.stack([sentence_encoding(subject, text) for text in texts]))
    return Embeddings(subject.name, (), Projection("sentences", tuple(texts), points, explained))


def sentence_encoding(subject: Subject, text: str) -> Tensor:
    """Return the last states of the top layer that reads a sentence, one direction after the other."""
    target = [""] if "target" in subject.trained.tokenizers else []  # a translator needs one
    layers = layers_of(subject, subject.example(text, *target))
    reader = layers[0].name.split(".")[0]
    own = [layer for layer in layers if layer.name.split(".")[0] == reader]
    top = own[-1].name.rsplit(".", 1)[0]
    states = [layer.signal(layer.seen.program.returns[0])[-1] for layer in own if layer.name.rsplit(".", 1)[0] == top]
    return torch.cat(states).double()


def principal_components(rows_NW: Tensor) -> tuple[tuple[tuple[float, float], ...], tuple[float, float]]:
    """Return rows along the two directions in which they differ most, and the fraction of the variance of each.

    The sign of a direction is such that its largest number is positive.
    """
    centred_NW = rows_NW - rows_NW.mean(0)
    _, size_K, direction_KW = torch.linalg.svd(centred_NW, full_matrices=False)
    sign_K = direction_KW.gather(1, direction_KW.abs().argmax(1, keepdim=True)).sign()
    points_N2 = torch.zeros(len(rows_NW), 2, dtype=rows_NW.dtype)
    kept = min(2, len(size_K))
    points_N2[:, :kept] = centred_NW @ (direction_KW * sign_K)[:kept].T
    share_K = size_K**2 / (size_K**2).sum().clamp(min=1e-30)
    shares = [*share_K[:2].tolist(), 0.0, 0.0]
    return tuple((x, y) for x, y in points_N2.tolist()), (shares[0], shares[1])


def token_of(subject: Subject, side: str, word: str) -> int | None:
    """Return the token that a word is on a side; None for an unknown word, and for one of several tokens."""
    tokenizer = subject.trained.tokenizers[side]
    ids = tokenizer.encode(word)
    return ids[0] if len(ids) == 1 and ids[0] != tokenizer.symbols.unk else None


def _occurrences(subject: Subject, side: str, table_VD: Tensor) -> tuple[Tensor, bool]:
    """Return how often each token occurred in training on a side; or, and False, which vectors training moved."""
    ids = stored_column(subject.trained.path / TRAIN, f"{side}.ids", len(table_VD))
    if ids is not None:
        return torch.from_numpy(token_counts(ids, len(table_VD))), True
    return (table_VD != tables_of(subject.fresh())[side]).any(1).long(), False


def _nearest(table_VD: Tensor, row: int, counts_V: Tensor, most: int) -> tuple[list[int], list[float]]:
    """Return the ids and cosines of the nearest vectors that were trained; none for a row that was not."""
    unit_VD = table_VD / table_VD.norm(dim=1, keepdim=True).clamp(min=1e-12)
    cosine_V = (unit_VD @ unit_VD[row]).masked_fill(counts_V == 0, -torch.inf)
    cosine_V[row] = -torch.inf
    cosine_V[:4] = -torch.inf  # special tokens
    values, ids = cosine_V.topk(min(most, int(cosine_V.isfinite().sum())) if counts_V[row] else 0)
    return ids.tolist(), values.tolist()
