"""Shapes of saved tensors that a network takes over as they are, since they depend on the text or the batch."""

from collections.abc import Mapping, Sequence

from torch import Size, Tensor

from anaphora.errors import ShapeError


def demand_carry(carry: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> None:
    """Raise ShapeError where a carried state, perhaps of a checkpoint, is not like a ``fresh`` one of the same rows."""
    for name, tensor in fresh.items():
        there = carry.get(name)
        if there is None or there.shape != tensor.shape or there.is_floating_point() != tensor.is_floating_point():
            shape = tuple(tensor.shape)
            raise ShapeError(f"The saved state {name} has not the shape {shape}: it belongs to another experiment.")


def demand_lists(shapes: Mapping[str, Size], names: Sequence[str]) -> None:
    """Raise ShapeError where saved tensors of these names, as far as they are there, are not lists of one length."""
    found = {name: tuple(shapes[name]) for name in names if name in shapes}
    if len({*found.values()}) > 1 or any(len(shape) != 1 for shape in found.values()):
        raise ShapeError(f"{', '.join(found)} should be lists of one length, but have the shapes {[*found.values()]}.")
