"""Codes of languages, which may name a region or a script: ``pt-BR``, ``zh_Hans``."""

_UNSPACED = frozenset(("bo", "ja", "km", "lo", "my", "th", "yue", "zh"))
"""Languages that set no space between words; nor, mostly, between sentences."""


def bare(language: str) -> str:
    """The language alone: ``zh`` of ``zh_Hans``."""
    return language.replace("_", "-").split("-")[0].lower()


def is_unspaced(language: str) -> bool:
    """Whether a language sets no space between words."""
    return bare(language) in _UNSPACED
