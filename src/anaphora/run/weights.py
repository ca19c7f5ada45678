"""Tensors of a network by name: out of a module, to bytes, and back into a module of the same shape.

A file is read into numpy arrays, which are views of it; training asks for them ``as_tensors``. What is written may be
arrays or tensors.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from anaphora.errors import RunError
from anaphora.files import DamagedError, parse_json
from anaphora.wording import agreeing, inflect

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Tensors = Mapping[str, "Tensor"] | Arrays

BFLOAT16 = np.dtype("V2")
"""The type of arrays of bf16, which numpy lacks: two bytes each, the upper half of an fp32."""

_DTYPES: Mapping[str, np.dtype[Any]] = {
    **{"F64": np.dtype("f8"), "F32": np.dtype("f4"), "F16": np.dtype("f2"), "BF16": BFLOAT16, "BOOL": np.dtype("?")},
    **{"I64": np.dtype("i8"), "I32": np.dtype("i4"), "I16": np.dtype("i2"), "I8": np.dtype("i1"), "U8": np.dtype("u1")},
}
"""Types by their names in a safetensors file."""

_KINDS = {dtype: name for name, dtype in _DTYPES.items()}
_ORDER = ("I64", "F64", "F32", "I32", "BF16", "F16", "I16", "I8", "U8", "BOOL")
"""Order of types in a file, the widest first, as the library of the format writes them: each tensor is aligned."""
_ALIGNMENT = 8
"""Bytes of the length of the header, and what that is a multiple of."""

LARGEST = 1e15
"""The greatest weight in size that is loaded: a sum of products of two such overflows float32 with few more terms than
a layer has."""

_MOST_DIMENSIONS = 8
"""More than any tensor of a network has, and fewer than torch refuses."""


def as_tensors(tensors: Tensors) -> dict[str, "Tensor"]:
    """Return views of arrays as tensors, which are changed together; what is one already stays."""
    return {name: _as_tensor(one) if isinstance(one, np.ndarray) else one for name, one in tensors.items()}


def _as_tensor(array: Array) -> "Tensor":
    import torch

    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _as_array(tensor: "Array | Tensor") -> Array:
    """Return what a tensor holds, as a view where it is on the CPU."""
    if isinstance(tensor, np.ndarray):
        return tensor
    import torch

    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(BFLOAT16)
    return tensor.numpy()


def widen(array: Array) -> Array:
    """Return bf16 as fp32, and any other array as it is."""
    if array.dtype != BFLOAT16:
        return array
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def tensors_of(model: "torch.nn.Module") -> dict[str, "Tensor"]:
    """Parameters and persistent buffers by name, detached; a tied tensor is named once, by its first name."""
    seen: set[int] = set()
    named: dict[str, Tensor] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor.detach()
    return named


def fill(model: "torch.nn.Module", tensors: Tensors, where: Path) -> None:
    """Copy ``tensors`` into ``model``, or raise RunError naming the first that does not belong."""
    check_fit(model, tensors, where)
    given = as_tensors(tensors)
    for name, tensor in tensors_of(model).items():
        tensor.copy_(given[name])


def check_fit(model: "torch.nn.Module", tensors: Tensors, where: Path) -> None:
    """Raise RunError naming the first of ``tensors`` that does not belong to ``model``, which may be an outline."""
    check_kinds(kinds_of(tensors_of(model)), tensors, where)


def kinds_of(tensors: Tensors) -> dict[str, str]:
    """Return the shape and type of each tensor: "8 x 4 float32"."""
    return {name: f"{' x '.join(map(str, one.shape)) or 'a number'} {dtype_name(one)}" for name, one in tensors.items()}


def check_kinds(kinds: Mapping[str, str], tensors: Tensors, where: Path) -> None:
    """Raise RunError naming the first of ``tensors`` that is not of the kind that a network has.

    A kind that is a type alone has any shape.
    """
    own = kinds_of(tensors)
    for name in sorted(kinds.keys() | tensors.keys()):
        if name not in tensors:
            raise RunError(f"{where} has no tensor {name}, which this network needs: it belongs to another experiment.")
        if name not in kinds:
            raise RunError(
                f"{where} has a tensor {name!r}, which this network lacks: it belongs to another experiment."
            )
        expected, came = kinds[name], own[name]
        if came != expected and came.split()[-1] != expected:
            raise RunError(
                f"{where}: {name} should be {expected}, but is {came}: "
                f"vocabulary or experiment.toml are not those that the weights were trained with."
            )


def parameters(tensors: Arrays) -> dict[str, int]:
    """Count the trained numbers by part of the network, the first word of a tensor's name.

    Whole numbers, which say what was counted or where something stands, are no weights.
    """
    sizes: Counter[str] = Counter()
    for name, tensor in tensors.items():
        if is_floating_point(tensor):
            sizes[name.partition(".")[0]] += tensor.size
    return dict(sorted(sizes.items()))


def is_floating_point(tensor: "Array | Tensor") -> bool:
    return "float" in dtype_name(tensor)


def first_overflowing(tensors: Tensors) -> str:
    """Return the name of the first tensor with a number that is not finite or larger than ``LARGEST``, or nothing."""
    for name, tensor in tensors.items():
        if is_floating_point(tensor) and 0 not in tensor.shape:
            numbers = widen(tensor) if isinstance(tensor, np.ndarray) else tensor
            if not (float(numbers.min()) >= -LARGEST and float(numbers.max()) <= LARGEST):
                return name
    return ""


def serialise(tensors: Tensors, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the safetensors file of ``tensors``; equal tensors give equal bytes."""
    arrays = {name: _as_array(tensor) for name, tensor in tensors.items()}
    kinds = {name: _KINDS[array.dtype] for name, array in arrays.items()}
    header, contents, end = dict[str, Any](), list[bytes](), 0
    if metadata:
        header["__metadata__"] = dict(sorted(metadata.items()))
    for name in sorted(arrays, key=lambda name: (_ORDER.index(kinds[name]), name)):
        contents.append(arrays[name].tobytes())
        begin, end = end, end + len(contents[-1])
        header[name] = {"dtype": kinds[name], "shape": list(arrays[name].shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    return b"".join([len(text).to_bytes(_ALIGNMENT, "little"), text, *contents])


def parse(content: bytearray | mmap, path: Path) -> dict[str, Array]:
    """Return the tensors in a safetensors file that came from ``path``, as views of it; DamagedError when it is none.

    Copy them before they are multiplied: products round by alignment, and a file need not lie as they want it.
    """
    try:
        begin = 8 + int.from_bytes(content[:8], "little")
        if begin > len(content):
            raise ValueError("it is shorter than its header")
        header = parse_json(bytes(content[8:begin]), path)
        header.pop("__metadata__", None)
        tensors, end = dict[str, Array](), begin
        for name in sorted(header, key=lambda name: list[int](header[name]["data_offsets"])):
            tensors[name], end = _view(content, begin, end, name, header[name])
        if spare := len(content) - end:
            raise ValueError(f"{inflect(spare, 'byte')} at its end {agreeing(spare, 'are')} of no tensor")
        return tensors
    except DamagedError:
        raise DamagedError(f"{path} is not a safetensors file: its header is no JSON.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a safetensors file: {error}.") from None


def _view(content: bytearray | mmap, begin: int, place: int, name: str, entry: Mapping[str, Any]) -> tuple[Array, int]:
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
        return np.empty(shape, dtype), last
    if first % dtype.itemsize:
        content, first = bytearray(content[first:last]), 0
    return np.frombuffer(content, dtype, count, first).reshape(shape), last


def dtype_name(tensor: "Array | Tensor") -> str:
    """Return the name of its type: "float32", "bfloat16"."""
    name = str(tensor.dtype).removeprefix("torch.")
    return "bfloat16" if name == BFLOAT16.str else name
