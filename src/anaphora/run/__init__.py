"""The run folder: save, load, verify; a trained network out of it."""

from anaphora.run.checkpoint import Checkpoint
from anaphora.run.folder import Run, Which

__all__ = ["Checkpoint", "Run", "Which"]
