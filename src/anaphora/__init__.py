"""Recurrent sequence models on your own text, on the machine you have.

>>> import anaphora
>>> translator = anaphora.load("runs/en-de")  # doctest: +SKIP
>>> translator.translate(["A man is walking."], beam=5)[0].text  # doctest: +SKIP

Names are looked up when they are first used, so that ``import anaphora`` is light: no torch until a model is touched.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anaphora.errors import AnaphoraError
    from anaphora.experiment.conduct import train
    from anaphora.experiment.schema import Experiment, read_experiment
    from anaphora.pipeline import Aligner, LanguageModel, Translation, Translator, load

__all__ = [
    "Aligner",
    "AnaphoraError",
    "Experiment",
    "LanguageModel",
    "Translation",
    "Translator",
    "load",
    "read_experiment",
    "train",
]

__version__ = "0.1.0"

_HOMES = {
    "Aligner": "anaphora.pipeline",
    "AnaphoraError": "anaphora.errors",
    "Experiment": "anaphora.experiment.schema",
    "LanguageModel": "anaphora.pipeline",
    "Translation": "anaphora.pipeline",
    "Translator": "anaphora.pipeline",
    "load": "anaphora.pipeline",
    "read_experiment": "anaphora.experiment.schema",
    "train": "anaphora.experiment.conduct",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anaphora' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
