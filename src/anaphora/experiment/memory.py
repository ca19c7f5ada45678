"""How large a batch may be: what a token of it takes in training, against the memory that is free.

The estimate counts what the forward pass keeps and the backward pass makes beside it: for every matrix but the tables
of the vocabulary and those of the output layer, its output and its input, and for every target position a vector over
all source positions for each attention; where an encoder folds a sentence, all levels of it. It is meant to be too
large rather than too small.
"""

import os
from collections.abc import Collection
from pathlib import Path

import torch

from anaphora.kernels.device import Device
from anaphora.nn.encoders import GatedConvolutionEncoder
from anaphora.nn.outputs import Output

USUAL = 4000
"""Tokens of a batch where memory has room for more: larger ones learn no faster for the work they take."""

_SHARE = 0.5
_COPIES = 6
_PER_NUMBER = 16


def fitting_tokens(model: torch.nn.Module, vocabularies: Collection[int], longest: int, free: int) -> int:
    """Tokens of a batch for which half of ``free`` bytes suffice, at most ``USUAL`` and at least one longest row.

    ``vocabularies`` are the numbers of units, ``longest`` those of the longest row.
    """
    weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    room = _SHARE * free - _COPIES * weights  # weights, gradient, two means of Adam, a checkpoint being written
    return max(longest, min(USUAL, int(room / bytes_per_token(model, vocabularies, longest))))


def bytes_per_token(model: torch.nn.Module, vocabularies: Collection[int], longest: int) -> int:
    """What one more token in a batch takes, at most, while an update is made."""
    numbers = longest
    outputs = [module for module in model.modules() if isinstance(module, Output)]
    in_chunks = {id(weight) for output in outputs for weight in output.parameters()}
    for name, weight in model.named_parameters():
        if weight.ndim == 2:
            rows, columns = weight.shape
            numbers += columns if rows in vocabularies or id(weight) in in_chunks else rows + columns
            numbers += longest * _at_every_position(name, rows, columns)
    for module in model.modules():
        if isinstance(module, GatedConvolutionEncoder):  # a position has a parent on half of the levels above it
            numbers += longest // 2 * module.width
    return _PER_NUMBER * numbers


def _at_every_position(name: str, rows: int, columns: int) -> int:
    """Numbers that a target position keeps for each source position because of this weight."""
    if name.endswith("attention.filters"):
        return rows + columns
    if name.endswith("window.weight"):
        return rows
    return columns if rows == 1 else 0  # that which a scoring layer ends in


def free_bytes(device: Device = "cpu", root: Path = Path("/")) -> int:
    """Memory that this process may still take: what a GPU has, what the system has, or what its container leaves."""
    if device == "cuda":
        free, _ = torch.cuda.mem_get_info()
        return free
    try:
        meminfo = (root / "proc/meminfo").read_text().split()
        free = int(meminfo[meminfo.index("MemAvailable:") + 1]) * 1024
    except (OSError, ValueError):  # macOS does not say what is free, only how much there is
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    for limit, used in _limits(root):
        free = min(free, max(0, limit - used))
    return free


def _limits(root: Path) -> list[tuple[int, int]]:
    """Limit and use in bytes of every control group that the process is in, of either version."""
    found = []
    names = {"": ("memory.max", "memory.current"), "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes")}
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    for group in groups:
        _, controllers, path = group.split(":", 2)
        kind = "memory" if "memory" in controllers.split(",") else controllers
        if kind not in names:
            continue
        base = root / "sys/fs/cgroup" / kind
        inside = base / path.lstrip("/")
        # within a container its own group is often mounted as the root, whatever its path is called outside
        for folder in {base, inside, *(parent for parent in inside.parents if parent.is_relative_to(base))}:
            try:
                limit, used = ((folder / name).read_text().strip() for name in names[kind])
            except OSError:
                continue
            if limit != "max":
                found.append((int(limit), int(used)))
    return found
