"""Every error a person can meet. Each message is one sentence: what was expected, what came, where, what to do.

AnaphoraError                exit code 2
├── ConfigError              a recipe, an option or a value of one
│   └── UnknownOptionError   an option that its table has not, with its dotted key
├── DataError                a file of text, with its line or byte
├── RunError                 a run folder: missing, in the way, locked, empty, damaged, changed
├── ShapeError               tensors that do not fit together
├── MissingExtraError        an optional dependency, with the line that installs it
├── StoppedError             predictions that ended early, with the first line that has no answer
│   ├── DeadlineError        their time was up
│   └── CancelledError       the caller cancelled them
├── ReportedError            of another process, which reports it
└── DivergedError            training that cannot continue; exit code 3
"""

from collections.abc import Iterator
from contextlib import contextmanager


class AnaphoraError(Exception):
    """A user error; the command line prints its message alone and leaves with ``exit_code``.

    >>> try:
    ...     anaphora.load("runs/nowhere")
    ... except anaphora.AnaphoraError as error:
    ...     print(error)
    A run folder should be at runs/nowhere, but nothing is there: check the path, or train it first.
    """

    exit_code = 2


class ConfigError(AnaphoraError):
    """A recipe, an option or one of its values is not what the experiment needs."""


class UnknownOptionError(ConfigError):
    """A table has no option of that name, or of its kind none."""

    def __init__(self, wrong: str, key: str, remedy: str = "") -> None:
        """``wrong`` is a sentence, ``key`` the option's, with dots, ``remedy`` what one who wrote it can do."""
        super().__init__(f"{wrong.removesuffix('.')}: {remedy}." if remedy else wrong)
        self.wrong = wrong
        self.key = key


class DataError(AnaphoraError):
    """A file of text is missing, unreadable or not what its name promises."""


class RunError(AnaphoraError):
    """A run folder is missing, in the way, in use, empty, damaged or not the one that was asked for."""


class ShapeError(AnaphoraError, ValueError):
    """Tensors do not fit together."""


class MissingExtraError(AnaphoraError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str, alternative: str = "") -> None:
        """``package`` is what could not be imported, ``extra`` the extra of this project that brings it."""
        install = f"pip install 'anaphora[{extra}]', in a checkout  pip install '.[{extra}]'"
        super().__init__(f"This needs {package}, which is not installed: run  {install}.{alternative}")


class StoppedError(AnaphoraError):
    """Predictions stopped before all lines were answered; ``line`` is the first line (from 1) without an answer."""

    def __init__(self, message: str, line: int) -> None:
        """``message`` names the line too."""
        super().__init__(message)
        self.line = line


class DeadlineError(StoppedError):
    """The deadline of predictions passed."""


class CancelledError(StoppedError):
    """The caller cancelled predictions."""


class ReportedError(AnaphoraError):
    """A user error of another process that trains along; its message is empty where the other reports it itself."""

    def __init__(self, message: str, exit_code: int) -> None:
        """``exit_code`` is that of the error."""
        super().__init__(message)
        self.exit_code = exit_code


class DivergedError(AnaphoraError):
    """Training met losses or gradients that are not finite and cannot continue."""

    exit_code = 3


def demand_number(score: float) -> None:
    """Raise RunError where what a model computes is not a number, since its weights are too large."""
    if score != score:
        raise RunError(
            "The scores that the model computes are not numbers, since its weights are so large that sums of them "
            "overflow: restore the run from a copy, or train it again with a lower learning rate."
        )


@contextmanager
def refuse_os_errors(before: str, after: str = ".") -> Iterator[None]:
    """Turn an OSError into a DataError: its reason between ``before``, what cannot be done, and ``after``, a remedy."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{before}{error.strerror or error}{after}") from error
