"""Garbage collection of a command: rare while it imports, which leaves a million objects and no garbage."""

import gc

_USUALLY = gc.get_threshold()
_RARELY = 200_000
"""New objects before the newest are looked through; with the usual 700 that is a quarter of the time of an import."""


def rarely() -> None:
    """Look for garbage rarely until the work begins."""
    gc.set_threshold(_RARELY)


def usually() -> None:
    """Look for garbage as often as Python does, but never in what was imported; call it where the work begins."""
    if gc.get_threshold() != _USUALLY:
        gc.freeze()
        gc.set_threshold(*_USUALLY)


def never() -> None:
    """Leave what there is to the end of the process, which would look through all of it once more."""
    gc.freeze()
