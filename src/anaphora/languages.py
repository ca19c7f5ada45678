"""Codes of languages, which may name a region or a script: ``pt-BR``, ``zh_Hans``."""

from collections.abc import Sequence
from pathlib import Path
from unicodedata import category, normalize

from anaphora.errors import ConfigError

_ROWS = [row.split("\t") for row in Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()]
NAMES = {code: name for code, _, name, _ in _ROWS}
"""Names of languages in English by their codes (ISO 639-1, of others ISO 639-3)."""

_LIKE_WORDS = frozenset(("alt", "din", "fon", "jam", "lua", "mag", "rap", "tar"))
"""Codes that are more often words, or the endings of files."""

CODES = (NAMES.keys() - _LIKE_WORDS) | {"bh", "iw", "ji", "sh"}
"""Codes of languages that are known as such."""

_UNSPACED = frozenset(("bo", "ja", "km", "lo", "my", "th", "yue", "zh"))
"""Languages that set no space between words."""

_RUN_ON = frozenset(("ja", "yue", "zh"))
"""Languages that set no space between sentences either; in the others a space ends a sentence, or follows its sign."""

_SHORTER = {longer: code for code, others, _, _ in _ROWS for longer in others.split()}
"""Codes of ISO 639-1 by those of ISO 639-2 and 639-3."""


def bare(language: str) -> str:
    """Return the language alone, by its shorter code: ``zh`` of ``zh_Hans`` and ``zho``."""
    code = plain_code(language).split("-")[0]
    return _SHORTER.get(code, code)


def plain_code(code: str) -> str:
    """Return a code as codes are compared: in lower case, with hyphens."""
    return code.strip().replace("_", "-").lower()


def code_of(name: str) -> str:
    """Return the code of a language by its name in English, in itself or in a large neighbour; empty for another.

    Case and accents make no difference; codes are in lower case.
    """
    return _BY_NAME.get(_without_accents(name), "")


def _without_accents(name: str) -> str:
    return "".join(sign for sign in normalize("NFD", name.casefold()) if category(sign) != "Mn")


_BY_NAME = {_without_accents(one): code.lower() for code, _, name, more in _ROWS for one in (name, *more.split())}


def choose_direction(known: Sequence[tuple[str, str]], target: str = "", source: str = "") -> tuple[str, str]:
    """Return the languages of source and target that are asked for, the source empty where several are possible.

    Case and ``_`` for ``-`` make no difference. Raises ConfigError for languages that are not ``known``, and where
    several targets are and none is asked for.
    """
    asked = plain_code(source), plain_code(target)
    found = [two for two in known if all(one in ("", plain_code(own)) for one, own in zip(asked, two, strict=True))]
    listed = ", ".join(map("-".join, known))
    if not found:
        raise ConfigError(f"There is no translation {source or '*'}-{target or '*'} here: name one of {listed}.")
    sources, targets = (list(dict.fromkeys(side)) for side in zip(*found, strict=True))
    if len(targets) > 1:
        raise ConfigError(f"This run translates {listed}: name the language to translate into (to).")
    return sources[0] if len(sources) == 1 else "", targets[0]


def is_unspaced(language: str) -> bool:
    """True if a language sets no space between words; one of several, with commas between, may be it."""
    return any(bare(code) in _UNSPACED for code in language.split(","))


def is_run_on(language: str) -> bool:
    """True if a language sets no space between sentences."""
    return bare(language) in _RUN_ON
