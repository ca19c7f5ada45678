"""Numbers and names in messages: "1 line", "2,000 lines"; "Did you mean ..?"."""

import re
from collections.abc import Collection, Iterable

from anaphora.errors import ConfigError

_IRREGULAR = {"hypothesis": "hypotheses", "matrix": "matrices"}
_VERBS = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "belong": "belongs",
    "begin or end": "begins or ends",
    "contain": "contains",
    "differ": "differs",
    "look": "looks",
    "name": "names",
    "occur": "occurs",
    "repeat": "repeats",
}
_PLURAL_VERB = re.compile(rf"\b(?:{'|'.join(_VERBS)})\b")


def inflect(count: int, noun: str, clause: str = "") -> str:
    """Return a number with its noun, given in the singular: "1 source token", "2,000 source tokens".

    A plural ``clause`` follows it, in the singular where there is one: "1 line is empty".
    """
    return f"{count:,} {noun if count == 1 else plural(noun)} {agreeing(count, clause)}".rstrip()


def plural(noun: str) -> str:
    """Return the plural of a noun; of several words, the last one's."""
    *before, last = noun.split(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith(("s", "x", "ch", "sh")) and last != "epoch":
        last += "es"
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = f"{last[:-1]}ies"
    else:
        last += "s"
    return " ".join([*before, last])


def singular(noun: str) -> str:
    """Return the singular of a regular plural: "entries" becomes "entry"."""
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def agreeing(count: int, clause: str) -> str:
    """Return a clause with its first plural verb in the singular if ``count`` is 1: "are empty" becomes "is empty"."""
    return _PLURAL_VERB.sub(lambda verb: _VERBS[verb.group()], clause, count=1) if count == 1 else clause


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint " Did you mean 'x'?" when a known name is close, else nothing."""
    import difflib

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.65)
    return f" Did you mean '{matches[0]}'?" if matches else ""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the sentences for a name that is none of the known ones, with the nearest of them."""
    names = sorted(known)
    return f"{what} '{name}' is unknown.{nearest(name, names)} Known: {', '.join(names)}."


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise ConfigError for a name that is none of the known ones, with the nearest of them."""
    if name not in known:
        raise ConfigError(unknown(what, name, known))
