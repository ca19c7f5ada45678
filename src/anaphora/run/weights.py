"""Tensors of a network by name: out of a module, to bytes, and back into a module of the same shape."""

import math
from collections import Counter
from collections.abc import Mapping
from mmap import mmap
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.files import DamagedError, parse_json
from anaphora.wording import agreeing, inflect

_DTYPES = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "BOOL": torch.bool},
    **{"I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8},
}
"""The names of types in a safetensors file."""

LARGEST = 1e15
"""The greatest weight in size that is loaded: a sum of products of two such overflows float32 with few more terms than
a layer has."""

_MOST_DIMENSIONS = 8
"""More than any tensor of a network has, and fewer than torch refuses."""


def tensors_of(model: torch.nn.Module) -> dict[str, Tensor]:
    """Parameters and persistent buffers by name, detached; a tied tensor is named once, by its first name."""
    seen: set[int] = set()
    named: dict[str, Tensor] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor.detach()
    return named


def fill(model: torch.nn.Module, tensors: Mapping[str, Tensor], where: Path) -> None:
    """Copy ``tensors`` into ``model``, or raise RunError naming the first that does not belong."""
    check_fit(model, tensors, where)
    with torch.no_grad():
        for name, tensor in tensors_of(model).items():
            tensor.copy_(tensors[name])


def check_fit(model: torch.nn.Module, tensors: Mapping[str, Tensor], where: Path) -> None:
    """Raise RunError naming the first of ``tensors`` that does not belong to ``model``, which may be an outline."""
    own = tensors_of(model)
    for name in sorted(own.keys() | tensors.keys()):
        if name not in tensors:
            raise RunError(f"{where} has no tensor {name}, which this network needs: it belongs to another experiment.")
        if name not in own:
            raise RunError(
                f"{where} has a tensor {name!r}, which this network lacks: it belongs to another experiment."
            )
        expected, came = _kind(own[name]), _kind(tensors[name])
        if expected != came:
            raise RunError(
                f"{where}: {name} should be {expected}, but is {came}: "
                f"vocabulary or experiment.toml are not those that the weights were trained with."
            )


def parameters(tensors: Mapping[str, Tensor]) -> dict[str, int]:
    """Count the trained numbers by part of the network, the first word of a tensor's name.

    Whole numbers, which say what was counted or where something stands, are no weights.
    """
    sizes: Counter[str] = Counter()
    for name, tensor in tensors.items():
        if tensor.is_floating_point():
            sizes[name.partition(".")[0]] += tensor.numel()
    return dict(sorted(sizes.items()))


def first_overflowing(tensors: Mapping[str, Tensor]) -> str:
    """Return the name of the first tensor with a number that is not finite or larger than ``LARGEST``, or nothing."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool((tensor.abs() <= LARGEST).all()):
            return name
    return ""


def serialise(tensors: Mapping[str, Tensor]) -> bytes:
    """Return the safetensors file of ``tensors``; equal tensors give equal bytes."""
    # clones, since the format refuses tensors that share memory, as windows of one packed weight do
    return safetensors.torch.save(
        {name: tensor.detach().clone(memory_format=torch.contiguous_format).cpu() for name, tensor in tensors.items()}
    )


def parse(content: bytearray | mmap, path: Path) -> dict[str, Tensor]:
    """Return the tensors in a safetensors file that came from ``path``, as views of it; DamagedError when it is none.

    Copy them before they are multiplied: products round by alignment, and a file need not lie as they want it.
    """
    try:
        begin = 8 + int.from_bytes(content[:8], "little")
        if begin > len(content):
            raise ValueError("it is shorter than its header")
        header = parse_json(bytes(content[8:begin]), path)
        header.pop("__metadata__", None)
        tensors, end = dict[str, Tensor](), begin
        for name in sorted(header, key=lambda name: list[int](header[name]["data_offsets"])):
            tensors[name], end = _view(content, begin, end, name, header[name])
        if spare := len(content) - end:
            raise ValueError(f"{inflect(spare, 'byte')} at its end {agreeing(spare, 'are')} of no tensor")
        return tensors
    except DamagedError:
        raise DamagedError(f"{path} is not a safetensors file: its header is no JSON.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a safetensors file: {error}.") from None


def _view(content: bytearray | mmap, begin: int, place: int, name: str, entry: Mapping[str, Any]) -> tuple[Tensor, int]:
    """Return a tensor by its entry in the header of a file whose numbers start at ``begin``, and where it ends.

    It has to start at ``place``, where the one before it ended, so that no byte counts twice.
    """
    dtype, shape = _DTYPES[entry["dtype"]], list[int](entry["shape"])
    first, last = (begin + offset for offset in entry["data_offsets"])
    sized = len(shape) <= _MOST_DIMENSIONS and all(type(one) is int and 0 <= one < 1 << 48 for one in shape)
    count = math.prod(shape) if sized else -1
    if first != place or not first <= last <= len(content) or last - first != count * dtype.itemsize:
        raise ValueError(f"the shape or the place of its tensor {name[:80]!r} does not fit its numbers")
    if not count:
        return torch.empty(shape, dtype=dtype), last
    if first % dtype.itemsize:
        content, first = bytearray(content[first:last]), 0
    return torch.frombuffer(content, dtype=dtype, count=count, offset=first).view(shape), last


def _kind(tensor: Tensor) -> str:
    return f"{' x '.join(map(str, tensor.shape)) or 'a number'} {str(tensor.dtype).removeprefix('torch.')}"
