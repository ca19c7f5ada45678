"""Memory that training takes, against what is free: whether a run can be begun, and how large a batch may be.

The estimate for a token counts what the forward pass keeps and the backward pass makes beside it: for every matrix but
the tables of the vocabulary and those of the output layer, its output and its input, and for every target position a
vector over all source positions for each attention; where an encoder folds a sentence, all levels of it. It is meant to
be too large rather than too small.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from anaphora.config import is_table, options_of
from anaphora.errors import ConfigError
from anaphora.kernels.device import Device
from anaphora.nn.encoders.gated_convolution import GatedConvolutionEncoder
from anaphora.nn.outputs.output import Output
from anaphora.tasks.base import ExperimentBase

USUAL = 4000
"""Tokens of a batch where memory has room for more: larger ones learn no faster for the work they take."""

_SHARE = 0.5
_COPIES = 6
_CERTAIN_COPIES = 4
_PER_NUMBER = 16
_SIZES = ("size", "layers", "filters", "components", "words", "batch_tokens")
_NAMED = 3


def fitting_tokens(model: torch.nn.Module, vocabularies: Collection[int], longest: int, free: int) -> int:
    """Tokens of a batch for which half of ``free`` bytes suffice, at most ``USUAL`` and at least one longest row.

    ``vocabularies`` are the numbers of tokens, ``longest`` those of the longest row.
    """
    weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    room = _SHARE * free - _COPIES * weights  # weights, gradient, two means of Adam, a checkpoint being written
    return max(longest, min(USUAL, int(room / bytes_per_token(model, vocabularies, longest))))


def bytes_per_token(model: torch.nn.Module, vocabularies: Collection[int], longest: int) -> int:
    """Return the bytes that one more token in a batch takes, at most, while an update is made."""
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
            numbers += longest // 2 * module.spec.width
    return _PER_NUMBER * numbers


def _at_every_position(name: str, rows: int, columns: int) -> int:
    """Return the count of numbers that a target position keeps for each source position because of a weight."""
    if name.endswith("attention.filters"):
        return rows + columns
    if name.endswith("window.weight"):
        return rows
    return columns if rows == 1 else 0  # that which a scoring layer ends in


def check_memory(
    model: torch.nn.Module, experiment: ExperimentBase, vocabularies: Collection[int], longest: int, most: int
) -> None:
    """Raise ConfigError where training takes more memory than is free: what it takes, what is free, what to lower.

    ``model`` may be an outline; of the batch as the experiment sets it no more than ``most`` tokens count, of one that
    is left open one longest row. What is certain counts alone: weights, gradient and two means of Adam, and of a
    token in a batch half of what ``bytes_per_token`` says.
    """
    free = free_bytes(experiment.training.device)
    weights = _CERTAIN_COPIES * sum(weight.numel() * weight.element_size() for weight in model.parameters())
    tokens = min(experiment.training.batch_tokens or longest, most)
    batch = tokens * bytes_per_token(model, vocabularies, longest) // 2
    if weights + batch > free:
        sizes = sorted(_find_enlarged(experiment), reverse=True)[:_NAMED]
        options = ", ".join(f"{key} = {value}" for _, key, value in sizes)
        needed, parts, left = (_gib(number) for number in (weights + batch, weights, free))
        raise ConfigError(
            f"Training is estimated to take {needed} of memory ({parts} for weights, gradients and optimizer, "
            f"{_gib(batch)} for a batch of {tokens:,} tokens), but {left} are free: lower {options}."
        )


def most_tokens(paths: Iterable[Path]) -> int:
    """No more tokens than this are in text files: a token has a byte, and text is compressed to a twentieth at best."""
    return sum(path.stat().st_size * (20 if path.suffix == ".gz" else 1) for path in paths) + 1


def _find_enlarged(table: Any, at: str = "") -> Iterator[tuple[float, str, int]]:
    """Yield each option that sizes something: its ratio to the default, its key and its value."""
    for name, option in options_of(type(table)).items():
        value, default = getattr(table, name), option.default
        if is_table(type(value)):
            yield from _find_enlarged(value, f"{at}{name}.")
        elif isinstance(value, int) and name.endswith(_SIZES) and value:
            yield value / default if isinstance(default, int) and default else 1.0, f"{at}{name}", value


def _gib(count: int) -> str:
    return f"{count / 2**30:,.1f} GiB"


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
