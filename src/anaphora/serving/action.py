"""What the server knows of a route."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from anaphora.serving.actions import Service
from anaphora.serving.parameters import Parameters


@dataclass(frozen=True)
class Action:
    """A route, who may take it, and the fields that it reads."""

    path: str
    method: str
    run: Callable[[Service, Parameters], Awaitable[Any]]
    open: bool = False
    """Whether no key is needed; that has to be said."""
    own: bool = False
    """Whether pages of other origins may not take it, though a browser sends it unasked."""
    patient: bool = False
    """Whether it has the deadline of documents."""
    learns: bool = False
    """Whether it changes a memory, which has to be allowed."""
    needs: tuple[str, ...] = ()
    """Fields without which it is refused."""
    takes: tuple[str, ...] = ()
    """Fields that may be missing."""
