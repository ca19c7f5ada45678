"""Word vectors that are composed from the characters of the words (Kim, Jernite, Sontag and Rush 2016).

A vector is computed for the distinct words of a batch, and looked up from there. The weights are a vector for every
character, so their number does not grow with the vocabulary. Special tokens are spelt as one character of their own; a
word outside the vocabulary is ``<unk>`` to everything after the tokenizer, and so it is here, whatever its characters.
A word is cut after its first ``max_length`` characters: words that differ only after them have one vector.
"""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from anaphora.config import Config, by_kind_or
from anaphora.errors import ConfigError
from anaphora.kernels.spelling import Shape, spelt
from anaphora.nn.dropout import AnyWordDropout, IndependentDropout
from anaphora.nn.embedding import Embedding, EmbeddingConfig, drop_words
from anaphora.nn.weights import Layer, Matrix, Start, Weights, projection_matrices
from anaphora.options import MAX_LAYERS, MAX_LENGTH, MAX_UNITS, Conflict
from anaphora.protocols import VocabularyInfo

_CLOSED = -2.0
"""Initial bias of a highway's gate, so that it lets through what it reads (Srivastava et al. 2015)."""


class CharactersConfig(Config):
    """Convolutions over the characters of a word, and highways after them."""

    kind: Literal["character-cnn"] = "character-cnn"
    """Source of a vector: characters."""
    character_size: int = Field(15, ge=1, le=MAX_UNITS)
    """Numbers of a character's vector."""
    max_kernel: int = Field(6, ge=1, le=MAX_LENGTH)
    """Convolutions see 1, 2, .. up to this many characters at a time."""
    filters: int = Field(25, ge=1, le=MAX_UNITS)
    """Filters of width 1; those of width w are w times as many, up to ``max_filters``."""
    max_filters: int = Field(200, ge=1, le=MAX_UNITS)
    """Filters that no width has more of."""
    highways: int = Field(1, ge=0, le=MAX_LAYERS)
    """Highway layers after the convolutions."""
    max_length: int = Field(64, ge=1, le=MAX_LENGTH)
    """Characters of a word that are read; those after them are cut, so that one endless word takes no more memory."""
    dropout: AnyWordDropout = IndependentDropout()
    """Dropout of word vectors: probability and kind; "variational" drops more."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            lambda table: table.max_kernel > table.max_length + 2,
            "{at}max_kernel = {table.max_kernel} is wider than a word, which has at most max_length + 2 characters "
            "({at}max_length = {table.max_length}): lower the one, or raise the other",
        ),
    )

    @property
    def sizes(self) -> list[int]:
        """Filters of every width, from the first."""
        return [min(self.max_filters, width * self.filters) for width in range(1, self.max_kernel + 1)]

    @property
    def size(self) -> int:
        """Numbers of a word's vector: all filters."""
        return sum(self.sizes)

    def matrices(self, characters: int) -> dict[str, Matrix]:
        """Return the weights, for an alphabet of this many characters."""
        found = {"characters.weight": Matrix(characters, self.character_size)}
        for width, filters in enumerate(self.sizes, 1):
            found |= projection_matrices(f"width{width}", filters, width * self.character_size, True)
        for layer in range(self.highways):
            for part in f"transform{layer}", f"hidden{layer}":
                found |= projection_matrices(part, self.size, self.size, True)
        return found


class CharacterEncoder(Layer):
    """Word vectors from the characters of any words."""

    def __init__(self, config: CharactersConfig, alphabet: int) -> None:
        """``alphabet`` is how many characters there are, those that stand for begin and end among them."""
        super().__init__()
        self.config = config
        self._shape = Shape(config.max_kernel, config.highways)
        self.weights = Weights(config.matrices(alphabet))

    def encode(self, characters_NL: Tensor, lengths_N: Tensor) -> Tensor:
        """Return the vectors of words, N x F, whose characters are given.

        What lies past the end of a word is never used.
        """
        return spelt(characters_NL, lengths_N, self.weights.tensors(), self._shape)

    def initialise(self, start: Start, generator: torch.Generator) -> None:
        """Fill the weights with what training starts from; highways begin almost closed."""
        super().initialise(start, generator)
        tensors = self.weights.tensors()
        with torch.no_grad():
            start.fill_table(tensors["characters.weight"], generator)
            for layer in range(self.config.highways):
                tensors[f"transform{layer}.bias"] += _CLOSED


class Spelling(CharacterEncoder):
    """Word vectors of a vocabulary from its characters, with dropout after them."""

    characters_VL: Tensor
    lengths_V: Tensor

    def __init__(self, config: CharactersConfig, words: Sequence[str], special_tokens: int, name: str) -> None:
        """``words`` by id, after this many ``special_tokens``; ``name`` keeps its dropout masks apart."""
        rows, alphabet = _rows(words, special_tokens, config.max_length)
        super().__init__(config, alphabet)
        self._name = name
        # made of the vocabulary, so no checkpoint needs them
        self.register_buffer("characters_VL", nn.utils.rnn.pad_sequence(rows, batch_first=True), persistent=False)
        self.register_buffer("lengths_V", torch.tensor([len(row) for row in rows]), persistent=False)

    def vectors(self, ids: Tensor, purpose: str = "") -> Tensor:
        """Return the vectors of ids, with one dimension more; as for ``Embedding.vectors``."""
        distinct_N, places = torch.unique(ids, return_inverse=True)
        lengths_N = self.lengths_V[distinct_N]
        characters_NL = self.characters_VL[distinct_N, : int(lengths_N.max())]
        vectors = functional.embedding(places, self.encode(characters_NL, lengths_N))
        return drop_words(vectors, ids, self.config.dropout, f"embedding.{self._name}.{purpose}", self.training)

    def read(self, ids: Tensor, purpose: str = "") -> Tensor:
        """Return the input of a recurrent network: the vectors of ids."""
        return self.vectors(ids, purpose)


def _rows(words: Sequence[str], special_tokens: int, longest: int) -> tuple[list[Tensor], int]:
    """Every word as the numbers of its first characters between a begin and an end, and how many numbers there are.

    0 and 1 are begin and end, then come the special tokens, then the characters of all words in the order of their code
    points, those after the ``max_length`` that a word is spelt by among them.
    """
    letters = sorted({letter for word in words for letter in word})
    numbers = {letter: 2 + special_tokens + place for place, letter in enumerate(letters)}
    inner = [[2 + place] for place in range(special_tokens)]
    inner += [[numbers[letter] for letter in word[:longest]] for word in words]
    return [torch.tensor([0, *row, 1]) for row in inner], 2 + special_tokens + len(letters)


AnyEmbedding = Annotated[EmbeddingConfig | CharactersConfig, Field(discriminator="kind"), by_kind_or("table")]
"""Word vectors as a recipe names them: ``"character-cnn"``, or ``{size = 200}``, which is a table."""


def embedding_of(config: AnyEmbedding, symbols: VocabularyInfo, words: Sequence[str]) -> Embedding | Spelling:
    """Return the word vectors of a vocabulary, whose special tokens come before its ``words``; a table needs no words.

    Raises ConfigError where words are to be spelt, but there are none.
    """
    if isinstance(config, EmbeddingConfig):
        return Embedding(config, symbols.size, "text")
    if not words:
        raise ConfigError("embedding.kind = 'character-cnn' needs text.tokenizer = 'word': set it, or use 'table'.")
    return Spelling(config, words, symbols.size - len(words), "text")
