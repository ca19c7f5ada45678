"""Language codes: their names, and how a client may write them."""

from collections.abc import Collection
from functools import cache
from importlib.resources import files

_SAME = (("zh", "zh-Hans"), ("zt", "zh-Hant"), ("pb", "pt-BR"), ("iw", "he"), ("no", "nb"), ("in", "id"))
"""Pairs of codes of one language, of which either may be asked for."""


def name_of(code: str) -> str:
    """Return the English name of a language; the code itself for one without a two-letter code."""
    names = _names()
    return names.get(code) or names.get(code.split("-")[0]) or code


def known_as(code: str, known: Collection[str]) -> str | None:
    """Return the language among ``known`` that a client means by a code, or None.

    Case and ``_`` for ``-`` make no difference, and old or other codes of the same language are understood. Where
    there is no model for a region ("en-GB"), the language without it is meant ("en"), and the other way round.
    """
    asked = _plain(code)
    codes = {_plain(one): one for one in known}
    for wanted in (asked, *_others(asked), asked.split("-")[0], *_others(asked.split("-")[0])):
        if wanted in codes:
            return codes[wanted]
    return next((codes[one] for one in sorted(codes) if one.split("-")[0] == asked), None)


def _plain(code: str) -> str:
    return code.strip().replace("_", "-").lower()


def _others(plain: str) -> list[str]:
    pairs = [(_plain(one), _plain(other)) for one, other in _SAME]
    return [other for one, other in pairs if one == plain] + [one for one, other in pairs if other == plain]


@cache
def _names() -> dict[str, str]:
    table = files("anaphora.serving").joinpath("languages.tsv").read_text("utf-8")
    return dict(line.split("\t") for line in table.splitlines())
