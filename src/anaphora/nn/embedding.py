"""Word vectors: a table, its dropout, and what it starts from."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.config import Config
from anaphora.kernels.fixed_norm import FixedNorm
from anaphora.kernels.word_tables import Words
from anaphora.nn.dropout import AnyWordDropout, IndependentDropout
from anaphora.nn.randomness import apply_dropout, dropout_mask
from anaphora.nn.weights import Start
from anaphora.options import MAX_UNITS, Conflict


class TableConfig(Config):
    """Options of every table of word vectors."""

    kind: Literal["table"] = "table"
    size: int = Field(256, ge=1, le=MAX_UNITS)
    """Numbers of a word vector."""
    scaled: bool = False
    """Multiply looked-up vectors by the square root of their size and start them so much smaller: for tied outputs."""
    dropout: AnyWordDropout = IndependentDropout()
    """Dropout of word vectors: probability and kind; "variational" drops more."""
    frozen: bool = False
    """True if vectors that come from a file stay as they are in training; all others are trained either way."""

    @property
    def files(self) -> Mapping[str, str]:
        """The files, or runs, of word vectors that the rows of a side start from."""
        return {}

    @property
    def scale(self) -> float:
        """Factor of looked-up vectors."""
        return float(self.size**0.5) if self.scaled else 1.0

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda table: table.frozen and not table.files,
            "{at}frozen keeps the vectors of a file, but none is named: name one, or set {at}frozen = false",
        ),
    )


class EmbeddingConfig(TableConfig):
    """The table of word vectors of a text."""

    vectors: str = "none"
    """A file of word vectors, or the run of a language model, that its rows start from, as far as it has them; "none"
    draws all rows."""

    @property
    def files(self) -> Mapping[str, str]:
        return {} if self.vectors == "none" else {"text": self.vectors}


class Embedding(nn.Embedding):
    """A table of word vectors with dropout behind it."""

    held: Tensor
    norm = FixedNorm()
    """Norm of its rows, that of the output layer that it is tied to."""

    def __init__(self, config: TableConfig, words: int, name: str) -> None:
        """``words`` rows; ``name`` tells its dropout masks apart from those of others."""
        super().__init__(words, config.size, _weight=torch.zeros(words, config.size))
        self._dropout, self._name = config.dropout, name
        self.scale = config.scale
        self._frozen = config.frozen
        if config.frozen:
            self.register_buffer("held", torch.zeros(words, dtype=torch.bool))
        self._hold()

    def vectors(self, ids: Tensor, purpose: str = "") -> Tensor:
        """Return the vectors of ids, with one dimension more.

        In training, ids are steps x sentences (T x B), and ``purpose`` tells two uses of one table apart.
        """
        purpose = f"embedding.{self._name}.{purpose}"
        return drop_words(self.norm(self(ids)) * self.scale, ids, self._dropout, purpose, self.training)

    def words(self, ids: Tensor) -> Words:
        """Return the same outside of training, as words that have yet to be looked up."""
        return Words(ids.unsqueeze(-1), self.norm.of_table(self.weight), self.scale)

    def read(self, ids: Tensor, purpose: str = "") -> Tensor | Words:
        """Return the input of a recurrent network: vectors where there is a gradient or a hook, else words."""
        differs = self.training or torch.is_grad_enabled() or self._forward_hooks
        return self.vectors(ids, purpose) if differs else self.words(ids)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy: its table has another hook, which copies of tensors leave behind."""
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._hold()

    @property
    def learns_all_rows(self) -> bool:
        """True if training changes it, and no row is kept as it is."""
        return self.weight.requires_grad and not self._frozen

    def make_sparse(self) -> None:
        """Let its gradient have a row for each word that was looked up, and no others."""
        if not self.sparse:
            self.sparse = True
            self._hold()

    def _hold(self) -> None:
        if self._frozen and self.weight.requires_grad:
            self.weight.register_hook(self._without_held)  # type: ignore[no-untyped-call]
        if self.sparse:  # the rows of a batch are summed before those of the next are added
            self.weight.register_hook(Tensor.coalesce)  # type: ignore[no-untyped-call]

    def _without_held(self, dweight_VE: Tensor) -> Tensor:
        """Return the gradient of the table, tied outputs included: 0 for the rows that stay as they are."""
        return dweight_VE.masked_fill(self.held.unsqueeze(1), 0)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        with torch.no_grad():
            start.fill_table(self.weight, generator)
            # of a vector with a fixed norm only the direction counts, which changes the faster the shorter it is
            self.weight /= self.embedding_dim**0.5 if self.norm.radius else self.scale

    def take(self, row: int, vector: Sequence[float]) -> None:
        """Let a row start from where looking it up gives ``vector``; a frozen table will leave it there."""
        with torch.no_grad():
            self.weight[row] = torch.tensor(vector) / self.scale
        if self._frozen:
            self.held[row] = True


def drop_words(x_TBD: Tensor, ids_TB: Tensor, dropout: AnyWordDropout, purpose: str, training: bool) -> Tensor:
    """Return the vectors of ``ids_TB`` with dropout in training, as they are otherwise.

    ``purpose`` tells its masks apart from those of others.
    """
    if isinstance(dropout, IndependentDropout) or not training:
        return apply_dropout(x_TBD, purpose, dropout.probability, training)
    if dropout.probability:
        x_TBD = x_TBD * dropout_mask(purpose, tuple(x_TBD.shape[1:]), dropout.probability, x_TBD)
    if dropout.words:
        # a word's mask is that of its first place in the sentence
        first_TB = (ids_TB.unsqueeze(1) == ids_TB).byte().argmax(1)
        mask_TB = dropout_mask(f"{purpose}.words", tuple(ids_TB.shape), dropout.words, x_TBD)
        x_TBD = x_TBD * mask_TB.gather(0, first_TB).unsqueeze(-1)
    return x_TBD
