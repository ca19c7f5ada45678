"""Codes of languages, which may name a region or a script: ``pt-BR``, ``zh_Hans``."""

_UNSPACED = frozenset(("bo", "ja", "km", "lo", "my", "th", "yue", "zh"))
"""Languages that set no space between words."""

_RUN_ON = frozenset(("ja", "yue", "zh"))
"""Those that set none between sentences either; in the others a space is what ends a sentence, or follows its sign."""


def bare(language: str) -> str:
    """The language alone: ``zh`` of ``zh_Hans``."""
    return language.replace("_", "-").split("-")[0].lower()


def is_unspaced(language: str) -> bool:
    """Whether a language sets no space between words."""
    return bare(language) in _UNSPACED


def is_run_on(language: str) -> bool:
    """Whether a language sets no space between sentences."""
    return bare(language) in _RUN_ON
