"""Recurrent sequence models on your own text, on the machine you have.

>>> import anaphora
>>> translator = anaphora.load("runs/en-fr")
>>> translator.translate(["The cat sees a very small bird"], beam=5)[0].text
'Le chat voit un tout petit oiseau'

``load`` takes a run folder that ``anaphora train`` made, or a bundle, and returns its predictor, whose methods
``help(predictor)`` shows. ``about`` shows what a run is. ``read_experiment`` and ``train``, which need PyTorch, make
one from Python. Every user error is an ``AnaphoraError``. Recipes are in ``anaphora.recipes``, and
``anaphora.inspection`` looks inside of runs.

Names are looked up when they are first used, so that ``import anaphora`` is light: no torch until a model is touched.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from anaphora.version import VERSION

if TYPE_CHECKING:
    from anaphora.errors import AnaphoraError as AnaphoraError
    from anaphora.experiment.reading import read_experiment as read_experiment
    from anaphora.experiment.run_training import train as train
    from anaphora.prediction.candidates import Shortlist as Shortlist
    from anaphora.prediction.limits import Limits as Limits
    from anaphora.prediction.options import SearchOptions as SearchOptions
    from anaphora.run.summary import about as about
    from anaphora.search.sampling import Sampling as Sampling
    from anaphora.tasks.alignment.predictor import AlignmentPredictor as AlignmentPredictor
    from anaphora.tasks.base import ExperimentBase as ExperimentBase
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor as LanguageModelPredictor
    from anaphora.tasks.runs import load as load
    from anaphora.tasks.translation.constraints import Framed as Framed
    from anaphora.tasks.translation.predictor import TranslationPredictor as TranslationPredictor
    from anaphora.tasks.translation.translation import Translation as Translation
    from anaphora.trial import trial_model as trial_model

__version__ = VERSION

_HOMES = {
    "AlignmentPredictor": "anaphora.tasks.alignment.predictor",
    "AnaphoraError": "anaphora.errors",
    "ExperimentBase": "anaphora.tasks.base",
    "Framed": "anaphora.tasks.translation.constraints",
    "LanguageModelPredictor": "anaphora.tasks.language_model.predictor",
    "Limits": "anaphora.prediction.limits",
    "Sampling": "anaphora.search.sampling",
    "SearchOptions": "anaphora.prediction.options",
    "Shortlist": "anaphora.prediction.candidates",
    "Translation": "anaphora.tasks.translation.translation",
    "TranslationPredictor": "anaphora.tasks.translation.predictor",
    "about": "anaphora.run.summary",
    "load": "anaphora.tasks.runs",
    "read_experiment": "anaphora.experiment.reading",
    "train": "anaphora.experiment.run_training",
    "trial_model": "anaphora.trial",
}

_TRAINING = ("ExperimentBase", "read_experiment", "train")
"""Names that need PyTorch."""

__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anaphora' has no attribute '{name}'")
    try:
        home = import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        from anaphora.errors import MissingExtraError

        raise MissingExtraError("torch", "train") from None
    return getattr(home, name)


def __dir__() -> list[str]:
    """Return the public names; without PyTorch, which ``help`` cannot do without for training, those that predict."""
    return __all__ if find_spec("torch") else [name for name in __all__ if name not in _TRAINING]
