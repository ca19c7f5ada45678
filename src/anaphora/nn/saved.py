"""Shapes of saved tensors that a network takes over as they are, since they depend on the text or the batch."""

from collections.abc import Mapping, Sequence

from torch import Size, Tensor

from anaphora.errors import ShapeError


def demand_carry(carry: Mapping[str, Tensor], fresh: Mapping[str, Tensor]) -> None:
    """Raise ShapeError where a carried state, perhaps of a checkpoint, is not like a ``fresh`` one of the same rows."""
    for name, tensor in fresh.items():
        there = carry.get(name)
        if there is None or there.shape != tensor.shape or there.is_floating_point() != tensor.is_floating_point():
            found = "none is saved" if there is None else f"the saved one has {tuple(there.shape)} of {there.dtype}"
            raise ShapeError(
                f"A carried state {name} should have the shape {tuple(tensor.shape)}, but {found}: the checkpoint "
                f"belongs to another experiment; restore it from a copy."
            )


def demand_lists(shapes: Mapping[str, Size], names: Sequence[str]) -> None:
    """Raise ShapeError where saved tensors of these names, as far as they are there, are not lists of one length."""
    found = {name: tuple(shapes[name]) for name in names if name in shapes}
    if len({*found.values()}) > 1 or any(len(shape) != 1 for shape in found.values()):
        raise ShapeError(f"{', '.join(found)} should be lists of one length, but have the shapes {[*found.values()]}.")
