"""Options that several verbs share, and the little languages of their values."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.search.ensemble import Mean as MeanName

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, as made by anaphora train.")]
Beam = Annotated[
    int | None,
    typer.Option("--beam", min=1, help="Hypotheses kept at each step; 1 is greedy search. [default: the run's own]"),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option("--length-penalty", min=0, help="How far long hypotheses are favoured. [default: the run's own]"),
]
Mean = Annotated[
    str,
    typer.Option(
        "--mean",
        metavar="arithmetic|geometric",
        help="How several runs are averaged: their probabilities, or the logarithms of these. [default: arithmetic]",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Threads = Annotated[int, typer.Option("--threads", min=0, help="Threads of a product; 0 lets torch choose.")]

_DURATION = re.compile(r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?")


def minutes(text: str) -> float:
    """The minutes in a time such as ``30m``, ``1h30m`` or ``90s``; ConfigError for anything else."""
    match = _DURATION.fullmatch(text.strip().lower())
    if not text.strip() or match is None:
        raise ConfigError(f"--time takes a time such as 30m, 1h30m or 90s, but got '{text}'.")
    hours, rest, seconds = (float(part or 0) for part in match.groups())
    return hours * 60 + rest + seconds / 60


def known_mean(name: str, runs: int) -> "MeanName":
    """The mean of that name, the usual one for none; ConfigError for another name, or where one run came."""
    from anaphora.config import unknown
    from anaphora.search.ensemble import MEANS

    if name and runs == 1:
        raise ConfigError("--mean says how several runs are averaged, but one run came: leave it out, or name more.")
    if name and name not in MEANS:
        raise ConfigError(unknown("--mean", name, MEANS))
    return MEANS[name or "arithmetic"]


def use_threads(count: int) -> None:
    """Let torch use ``count`` threads; 0 leaves the choice to it."""
    if count:
        import torch

        torch.set_num_threads(count)
