"""API keys: a file of their hashes, and what each may do.

A line of the file is ``NAME sha256:HASH``, with `` learn`` behind it for a key that may add to memories. A key has 256
random bits, so that one plain hash keeps it; the key itself is shown once, when it is made.
"""

import hmac
import re
import secrets
import time
from collections import deque
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import ConfigError
from anaphora.formats.lines import read_lines
from anaphora.serving.refusal import Refusal, bad
from anaphora.wording import inflect

_LINE = re.compile(r"(\S+) sha256:([0-9a-f]{64})( learn)?")
FAILURES, WITHIN = 10, 60.0
"""Wrong keys from one address within so many seconds before it is told to slow down."""
_ADDRESSES = 10_000
"""Addresses whose wrong keys are counted; beyond them the count begins anew."""


class Key(NamedTuple):
    """One line of the file."""

    name: str
    hash: str
    learns: bool = False
    """True if its holder may add to the memories of runs."""


EVERYBODY = Key("", "")
"""Who asks where no keys are needed."""


def read_keys(path: Path) -> list[Key]:
    """Return the keys of a file.

    Lines that are empty or begin with ``#`` do not count. Raises ConfigError with the line.
    """
    keys = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None:
            raise ConfigError(
                f"{path}:{number} should be a name, sha256: with 64 digits, and perhaps the word learn: make keys with "
                f"anaphora serve --new-key NAME --keys {path}."
            )
        keys.append(Key(found[1], found[2], learns=found[3] is not None))
    if not keys:
        raise ConfigError(f"{path} has no key: make one with anaphora serve --new-key NAME --keys {path}.")
    return keys


def new_key(path: Path, name: str, *, learns: bool = False) -> str:
    """Return a new key, added to a file that only its owner may read; it is not kept anywhere else."""
    if not re.fullmatch(r"[^\s#]\S*", name):
        raise ConfigError(f"The name of a key should be one word, but is {name!r}.")
    if path.exists() and name in {key.name for key in read_keys(path)}:
        raise ConfigError(f"{path} has a key of the name {name}: give another name, or delete its line.")
    key = secrets.token_urlsafe(32)
    path.touch(mode=0o600)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{name} sha256:{_hash(key)}{' learn' if learns else ''}\n")
    return key


class Doorkeeper:
    """Decides who may do what; without keys everybody may."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._keys = keys
        self._failures: dict[str, deque[float]] = {}
        self.required = bool(keys)
        """True if a key is needed."""

    def admit(self, given: str, address: str) -> Key:
        """Return the key by which a request may pass.

        Raises Refusal: 400 without a key, 403 for a wrong one, 429 for one more after many. The statuses are those
        that clients of LibreTranslate expect. A right key always passes: others may share its address.
        """
        if not self.required:
            return EVERYBODY
        if not given:
            raise bad("Please contact the server operator to get an API key")
        found = _hash(given)
        same = [key for key in self._keys if hmac.compare_digest(key.hash, found)]
        if same:
            return same[0]
        failures, now = self._failures.get(address, deque[float]()), time.monotonic()
        while failures and failures[0] < now - WITHIN:
            failures.popleft()
        if len(failures) >= FAILURES:
            raise Refusal(429, f"Slowdown: {inflect(FAILURES, 'wrong key')} per {WITHIN:g} s", {"Retry-After": "60"})
        if len(self._failures) > _ADDRESSES:
            self._failures.clear()
        self._failures.setdefault(address, failures).append(now)
        raise Refusal(403, "Invalid API key")


def _hash(key: str) -> str:
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
