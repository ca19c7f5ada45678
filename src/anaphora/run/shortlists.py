"""``shortlist.safetensors``: which tokens a run's translations are likely to have, as its training pairs show.

The file is optional, sealed by its own SHA-256, replaced as a whole, and belongs to the vocabularies of the run.
"""

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anaphora import files
from anaphora.errors import RunError
from anaphora.files import DamagedError
from anaphora.run.bundle import content_of
from anaphora.run.layout import store
from anaphora.run.weights import Array, parse, serialise

NAME = "shortlist.safetensors"
_LARGEST = 1 << 30
_SEAL, _VOCABULARIES = "sha256", "vocabularies"


class TokenShortlist(NamedTuple):
    """Target tokens by their number in the training text, and by the source tokens that they translate."""

    frequent_V: Array
    """int32: all target tokens, the most frequent first."""
    translations_M: Array
    """int32: the translations of each source token, the most probable first, one source token after the other."""
    ends_S: Array
    """int64: where those of each source token end."""

    def check(self, sizes: tuple[int, int], path: Path) -> None:
        """Raise DamagedError where it is none for vocabularies of these sizes, source and target."""
        source, target = sizes
        kinds = [(one.dtype.name, one.ndim) for one in self]
        ends = [0, *self.ends_S.tolist()] if kinds[2] == ("int64", 1) else []
        fits = (
            kinds[:2] == [("int32", 1)] * 2
            and len(ends) == source + 1
            and ends[-1] == len(self.translations_M)
            and all(start <= end for start, end in pairwise(ends))
            and np.array_equal(np.sort(self.frequent_V), np.arange(target))
            and bool(((self.translations_M >= 0) & (self.translations_M < target)).all())
        )
        if not fits:
            raise DamagedError(f"{path} is no shortlist of these vocabularies; remove it, and make it again.")


_TENSORS = {*TokenShortlist._fields, _VOCABULARIES}


def read(run: Path, vocabularies: str, sizes: tuple[int, int]) -> TokenShortlist | None:
    """Return the shortlist of a run; None where there is none.

    ``vocabularies`` is their SHA-256 in hexadecimal digits, and ``sizes`` how many tokens source and target have.
    Raises DamagedError for a changed file, and RunError for one of other vocabularies.
    """
    path = run / NAME
    tensors = read_tensors(run)
    if tensors is None:
        return None
    if _hexadecimal(tensors.pop(_VOCABULARIES)) != vocabularies:
        raise RunError(
            f"{path} belongs to other vocabularies than those of the run: make it with anaphora shortlist {run}."
        )
    found = TokenShortlist(**tensors)
    found.check(sizes, path)
    return found


def digest(run: Path) -> str:
    """SHA-256 of the file of a run; DamagedError where there is none."""
    content = content_of(run, NAME, _LARGEST)
    if content is None:
        raise DamagedError(f"{run / NAME} is missing.")
    return files.sha256(content)


def read_tensors(run: Path) -> dict[str, Array] | None:
    """Return the tensors in the file of a run, as they were written; None where there is none.

    Raises DamagedError for a changed file.
    """
    path, content = run / NAME, content_of(run, NAME, _LARGEST)
    if content is None:
        return None
    tensors = parse(bytearray(content), path)
    seal = tensors.pop(_SEAL, np.zeros(0))
    if _hexadecimal(seal) != files.sha256(serialise(tensors)) or tensors.keys() != _TENSORS:
        raise DamagedError(
            f"{path} was changed after it was written: its content does not fit its own SHA-256; remove it, and make "
            f"it again with anaphora shortlist {run}."
        )
    return tensors


def write(run: Path, vocabularies: str, shortlist: TokenShortlist) -> None:
    """Store a shortlist in place of any other; RunError where the folder cannot be written to."""
    tensors = shortlist._asdict() | {_VOCABULARIES: _bytes(vocabularies)}
    content = serialise(tensors | {_SEAL: _bytes(files.sha256(serialise(tensors)))})
    store(run / NAME, content, "the shortlist is not stored")


def _bytes(digest: str) -> Array:
    return np.frombuffer(bytes.fromhex(digest), np.uint8)


def _hexadecimal(digest: Array) -> str:
    return digest.tobytes().hex() if digest.dtype == np.uint8 and digest.ndim == 1 else ""
