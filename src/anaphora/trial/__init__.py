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
    >>> anaphora.load(anaphora.trial_model("spelling")).predict(["hello"])[0].text
    'HH AH0 L OW1'
    """
    check_known("trial model", name, TRIAL_MODELS)
    return Path(__file__).with_name(f"{name}.anaphora")
