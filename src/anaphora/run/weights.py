"""Tensors of a network by name: out of a module, to bytes, and back into a module of the same shape."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from anaphora.errors import RunError
from anaphora.files import DamagedError


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
    """How many numbers were learnt, by part of the network, the first word of a tensor's name.

    Whole numbers, which say what was counted or where something stands, are no weights.
    """
    sizes: Counter[str] = Counter()
    for name, tensor in tensors.items():
        if tensor.is_floating_point():
            sizes[name.partition(".")[0]] += tensor.numel()
    return dict(sorted(sizes.items()))


def first_not_finite(tensors: Mapping[str, Tensor]) -> str:
    """The name of the first tensor with an infinity or a NaN in it, or nothing."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            return name
    return ""


def serialise(tensors: Mapping[str, Tensor]) -> bytes:
    """The safetensors file of ``tensors``; equal tensors give equal bytes."""
    # clones, since the format refuses tensors that share memory, as windows of one packed weight do
    return safetensors.torch.save(
        {name: tensor.detach().clone(memory_format=torch.contiguous_format).cpu() for name, tensor in tensors.items()}
    )


def parse(content: bytes, path: Path) -> dict[str, Tensor]:
    """The tensors in a safetensors file that came from ``path``; DamagedError when it is none."""
    try:
        tensors = safetensors.torch.load(content)
    except (safetensors.SafetensorError, KeyError, ValueError) as error:
        raise DamagedError(f"{path} is not a safetensors file: {error}.") from None
    # clones, since the file's bytes need not lie where products want their operands, and products round by alignment
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _kind(tensor: Tensor) -> str:
    return f"{' x '.join(map(str, tensor.shape)) or 'a number'} {str(tensor.dtype).removeprefix('torch.')}"
