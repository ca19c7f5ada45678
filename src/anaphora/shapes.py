"""The letters that name dimensions, and the check that uses them.

    B  rows of a batch (sentences)          H  hidden units
    T  time steps                           G  gates times hidden units
    S  positions that attention covers      V  vocabulary
    D  width of an input                    N  rows of a search (sentences times hypotheses), or of a flat batch
    K  hypotheses of a sentence             M  width of an annotation
    C  words chosen from V, or classes      I  inner nodes of a tree of words
    A  width within an additive score       Q  width of a query
    E  width of a word vector               F  filters of a convolution
    L  length of a history or a word        W  places of a window or a row
    R  rows of any kind                     P  nodes of a path, or blocks of a projection
    U  units, or sums, of a block           X  any leading dimensions, such as time, or none

A name ends in its dimensions: ``x_TBD`` is steps x batch x width, and a number is a dimension of that size. Public
interfaces are batch first, kernels time first.
"""

from collections.abc import Sequence
from typing import Protocol

from anaphora.errors import ShapeError


class HasShape(Protocol):
    """Anything with a shape: a tensor, an array."""

    @property
    def shape(self) -> Sequence[int]:
        """The size of each dimension."""
        ...


def check_shapes(**named: HasShape) -> dict[str, int]:
    """Check that tensors whose names end in dimension letters agree, and return the size of every letter.

    ``check_shapes(x_TBD=x, h_BH=h)`` raises ShapeError unless ``x`` has three dimensions, ``h`` two, and both the
    same B.

    >>> import numpy
    >>> check_shapes(x_TBD=numpy.zeros((3, 2, 5)), h_BH=numpy.zeros((2, 7)))
    {'T': 3, 'B': 2, 'D': 5, 'H': 7}
    """
    sizes: dict[str, int] = {}
    origin: dict[str, str] = {}
    for name, tensor in named.items():
        letters = name.rpartition("_")[2]
        if len(letters) != len(tensor.shape):
            raise ShapeError(
                f"{name} should have {len(letters)} dimensions ({' x '.join(letters)}), "
                f"but has {len(tensor.shape)}: {tuple(tensor.shape)}."
            )
        for letter, size in zip(letters, tensor.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ShapeError(
                    f"{name} has {letter}={size}, but {origin[letter]} has {letter}={sizes[letter]}: "
                    f"make the two agree."
                )
            origin.setdefault(letter, name)
    return sizes
