"""Dropout as an option: which numbers share a mask, and what draws the masks of a batch.

dropout = 0.3                                                  a new mask at every step
dropout = { kind = "variational", probability = 0.3, recurrent = 0.2 }    one mask for all steps of a sentence
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field
from torch import Tensor

from anaphora.config import Config
from anaphora.kernels.parts import Mask, Part, SentenceMask
from anaphora.nn.randomness import dropout_mask

Rate = Annotated[float, Field(ge=0, lt=1)]
"""A fraction of numbers that is dropped."""


class Masks(NamedTuple):
    """The masks of a batch, as ``scan`` takes them."""

    inputs: dict[str, Tensor]
    """T x B x width by signal."""
    memory: dict[str, Tensor]
    """B x width by ``part.mask``."""


class Dropout(Config):
    """Dropout in a network of step parts."""

    probability: Rate = 0.0
    """Dropout probability; what is kept is scaled up."""

    @property
    def of_state(self) -> float:
        """Fraction of the recurrent state that is dropped."""
        return 0.0

    @abstractmethod
    def part(self, name: str, source: str, target: str) -> Part:
        """Return the part of a step that drops."""

    @abstractmethod
    def draw(self, owner: str, widths: Mapping[str, int], units: Mapping[str, int], x_TBD: Tensor) -> Masks:
        """Masks for the parts of ``widths`` and for the states of ``units``, both by name; ``owner`` tells them apart.

        ``x_TBD`` lends its length, its sentences and its type.
        """


class IndependentDropout(Dropout):
    """A new mask at every step, and none on the recurrent state (Zaremba, Sutskever and Vinyals 2014)."""

    kind: Literal["independent"] = "independent"

    def part(self, name: str, source: str, target: str) -> Part:
        """y = x * mask_t."""
        return Mask(name, source, target, f"{name} mask")

    def draw(self, owner: str, widths: Mapping[str, int], units: Mapping[str, int], x_TBD: Tensor) -> Masks:
        """Return one number for each number dropped from."""
        rate, rows = self.probability, tuple(x_TBD.shape[:2])
        places = widths.items() if rate else ()
        drawn = {f"{name} mask": dropout_mask(f"{owner}.{name}", (*rows, size), rate, x_TBD) for name, size in places}
        return Masks(drawn, {})


class VariationalDropout(Dropout):
    """One mask for all steps of a sentence, and if wanted one on the recurrent state (Gal and Ghahramani 2016)."""

    kind: Literal["variational"] = "variational"
    recurrent: Rate = 0.0
    """Dropout probability of what a cell multiplies by its recurrent matrices: h_{t-1}, or r * h_{t-1}."""

    @property
    def of_state(self) -> float:
        """``recurrent``."""
        return self.recurrent

    def part(self, name: str, source: str, target: str) -> Part:
        """y = x * mask."""
        return SentenceMask(name, source, target)

    def draw(self, owner: str, widths: Mapping[str, int], units: Mapping[str, int], x_TBD: Tensor) -> Masks:
        """Return one row of numbers for each sentence."""
        sentences = x_TBD.shape[1]
        drawn = {
            f"{name}.mask": dropout_mask(f"{owner}.{name}", (sentences, width), rate, x_TBD)
            for rate, places in ((self.probability, widths), (self.recurrent, units))
            for name, width in places.items()
            if rate
        }
        return Masks({}, drawn)


class VariationalWords(Config):
    """One mask for all words of a sentence, and whole words dropped wherever they stand in it."""

    kind: Literal["variational"] = "variational"
    probability: Rate = 0.0
    """Dropout probability, with the same mask at every step of a sentence."""
    words: Rate = 0.0
    """Probability of dropping the whole vector of a word of the sentence (Gal and Ghahramani 2016, section 4.2)."""


def _by_rate(value: Any) -> Any:
    if isinstance(value, str):
        return {"kind": value}
    return {"kind": "independent", "probability": value} if isinstance(value, int | float) else value


AnyDropout = Annotated[IndependentDropout | VariationalDropout, Field(discriminator="kind"), BeforeValidator(_by_rate)]
"""Dropout of recurrent layers as a recipe writes it: ``0.3``, or ``{kind = "variational", rate = 0.3}``."""

AnyWordDropout = Annotated[
    IndependentDropout | VariationalWords, Field(discriminator="kind"), BeforeValidator(_by_rate)
]
"""Dropout of word vectors as a recipe writes it: ``0.1``, or ``{kind = "variational", rate = 0.1, words = 0.05}``."""
