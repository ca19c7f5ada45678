"""Trained models that come with the package: int8 bundles, with the licences of their data in NOTICE.

docs/try.md says how they were made and how good they are.
"""

from pathlib import Path

from anaphora.config import check_known

TRIAL_MODELS = ("english-french", "spelling")


def trial_model(name: str = "english-french") -> Path:
    """Return the bundle of a model that comes with the package, for ``load`` and every verb that takes a bundle.

    ``english-french`` is a translator, ``spelling`` a transducer from English words, in lower case, to phones.

    >>> import anaphora
    >>> anaphora.load(anaphora.trial_model("spelling")).predict(["knight"])[0].text
    'N AY1 T'
    """
    check_known("trial model", name, TRIAL_MODELS)
    return Path(__file__).with_name(f"{name}.anaphora")
