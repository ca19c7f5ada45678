"""Checks of a scan before any work is done: tensors that do not fit the program or each other, in one sentence.

Looked at once a batch, never in the loop.
"""

from collections.abc import Iterator, Mapping

from torch import Tensor

from anaphora.errors import ShapeError
from anaphora.kernels.parts import Project, Unit, is_previous, signal_of
from anaphora.kernels.program import Program

Tensors = Mapping[str, Tensor]


def check_scan(
    program: Program, inputs: Tensors, first: Tensors, weights: Tensors, memory: Tensors, lengths_B: Tensor
) -> int:
    """T, once everything that the program needs is there and agrees.

    Raises ShapeError where a tensor is missing or too many, or has another size, type or device than the others ask
    for.
    """
    _check_names(program, inputs, first)
    sizes = {block.shape[:2] for block in inputs.values()}
    rows = {block.shape[0] for block in (*first.values(), *memory.values(), lengths_B)} | {size[1] for size in sizes}
    if len(sizes) != 1 or len(rows) != 1:
        raise ShapeError(
            f"the inputs of a scan should agree in T and B, and everything else in B, but T x B of the inputs are "
            f"{sorted(map(tuple, sizes))} and the batch sizes {sorted(rows)}: give every tensor the same sentences."
        )
    ((steps, _),) = sizes
    check_lengths(lengths_B, steps)
    _check_types([*inputs.items(), *first.items(), *weights.items(), *memory.items()])
    _check_widths(program, inputs, first, weights)
    for name, closed in memory.items():
        if name.endswith(".closed") and bool(closed.all(-1).any()):
            raise ShapeError(f"{name} closes every position of some sentence: drop empty sentences.")
    return steps


def check_lengths(lengths_B: Tensor, steps: int) -> None:
    """Refuse lengths that are no whole numbers between 1 and ``steps``.

    Raises ShapeError with the lengths that came.
    """
    if lengths_B.dim() != 1 or not len(lengths_B) or lengths_B.is_floating_point():
        raise ShapeError(
            f"lengths should be one whole number for each of one sentence or more, but have the shape "
            f"{tuple(lengths_B.shape)} and the type {lengths_B.dtype}: give B integers."
        )
    low, high = int(lengths_B.min()), int(lengths_B.max())
    if low < 1 or high > steps:
        raise ShapeError(f"lengths should be between 1 and T={steps}, but go from {low} to {high}.")


def _check_names(program: Program, inputs: Tensors, first: Tensors) -> None:
    written = {signal for part in program.parts for signal in part.writes}
    wanted = {read for part in program.parts for read in part.reads if not is_previous(read)} - written
    for what, given, needed in (("input", inputs, wanted), ("first value", first, set(program.carried))):
        if needed != given.keys():
            raise ShapeError(
                f"a scan needs one {what} for each of {sorted(needed)}, but was given {sorted(given)}: "
                f"add or drop {sorted(needed ^ given.keys())}."
            )


def _check_types(tensors: list[tuple[str, Tensor]]) -> None:
    """Demand one type for all numbers, and one device for all tensors."""
    name, like = tensors[0]
    for other, tensor in tensors:
        numbers = tensor.dtype if tensor.is_floating_point() else like.dtype
        if (numbers, tensor.device) != (like.dtype, like.device):
            raise ShapeError(
                f"the tensors of a scan should have one type and one device, but '{name}' is {like.dtype} on "
                f"{like.device} and '{other}' {tensor.dtype} on {tensor.device}: convert one with .to()."
            )


def _check_widths(program: Program, inputs: Tensors, first: Tensors, weights: Tensors) -> None:
    """Demand that every matrix is as wide as what it is multiplied with."""
    widths = {name: block.shape[-1] for name, block in (*inputs.items(), *first.items())}
    for name, expected in _shapes(program, first, weights, widths):
        if name not in weights:
            raise ShapeError(f"a scan needs the weight '{name}', but was given {sorted(weights)}: add it.")
        came = tuple(weights[name].shape)
        if came != expected:
            raise ShapeError(
                f"weight '{name}' should be {_format(expected)} to fit its input and its unit, but is {_format(came)}: "
                f"make the two agree."
            )


def _shapes(
    program: Program, first: Tensors, weights: Tensors, widths: dict[str, int]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Name and shape of every weight of projections and units, as far as the ``widths`` of signals are known."""
    sizes = {name: state.shape[-1] for name, state in first.items()}
    into_units: dict[str, int] = {}
    for part in program.parts:
        if isinstance(part, Unit):
            size = sizes[signal_of(part.reads[len(part.inputs)])]
            sizes |= dict.fromkeys(part.writes, size)
            into_units |= dict.fromkeys(part.inputs, part.cell.gates * size)
    for part in program.parts:
        if isinstance(part, Project):
            matrix = weights.get(f"{part.name}.weight")
            known = tuple(matrix.shape) if matrix is not None and matrix.dim() == 2 else (0, 0)
            rows, columns = into_units.get(part.target, known[0]), widths.get(signal_of(part.source), known[1])
            widths[part.target] = rows
            yield f"{part.name}.weight", (rows, columns)
            if part.bias:
                yield f"{part.name}.bias", (rows,)
        elif isinstance(part, Unit):
            size = sizes[part.writes[0]]
            for short, blocks in part.cell.matmuls:
                yield f"{part.name}.{short}", (len(blocks) * size, size)
            for short in part.cell.vectors:
                yield f"{part.name}.{short}", (size,)


def _format(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) or "a single number"
