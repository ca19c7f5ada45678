"""Translation memory beside a model: confirmed segments on disk, found again exactly or by their similarity."""

from anaphora.memory.memory import Memory
from anaphora.memory.segment import Change, Match, Segment

__all__ = ["Change", "Match", "Memory", "Segment"]
