"""``inference.json``: what predictions need of a run beside its vocabularies and weights, resolved.

    format        of the file
    task, model   the kind of model, whose predictor is made
    noun, see     its name and its verbs, for messages
    options       the tables of the experiment but those of training, as plain values
    network       its description for ``anaphora.inference``; null for a network that runs in torch alone
    tensors       shape and type of its weights by name; the type alone where it is as long as what was learnt
    belongs_to    SHA-256 of the experiment and the vocabularies that it was made of
    sha256        of all this

It does not depend on the weights, so that one file serves all checkpoints. Whoever reads it needs neither the classes
of options nor torch. The file is optional: training writes it, and for older runs the first use that finds torch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from anaphora import files
from anaphora.batch import Batch, Grid, Ids, Items, Labels, SpeltIds, Values
from anaphora.data.fields.values import Scale
from anaphora.errors import ConfigError
from anaphora.files import DamagedError
from anaphora.protocols import Growing
from anaphora.records import Record
from anaphora.run.folder import Run
from anaphora.run.layout import INFERENCE, store
from anaphora.run.manifest import unseal
from anaphora.run.weights import kinds_of, tensors_of

FORMAT = 1
"""The format that is written; a file of an older one is made anew."""

_LARGEST = 1 << 26
_SCALE = "scale"
_COMPUTED = ("classes.several", "output.several", "data.usual_columns", "data.directions")
"""Values for predictors that follow from options: by dotted key, of experiments that have them."""
_OF_TRAINING = ("training", "start")


class Options(SimpleNamespace):
    """A table of options as plain values, read by their names as those of an experiment."""

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy with other values of options, given by their dotted keys."""
        changed = dict(vars(self))
        for key, value in options.items():
            name, _, inner = key.partition(".")
            changed[name] = changed[name].with_options({inner: value}) if inner else value
        return type(self)(**changed)


class Inference(Record, extra="forbid"):
    """Content of the file."""

    format: int
    task: str
    model: str
    noun: str
    see: str
    options: dict[str, Any]
    network: dict[str, Any] | None
    tensors: dict[str, str]
    belongs_to: dict[str, str]
    sha256: str = ""

    def experiment(self, where: Path) -> Options:
        """Return the options; DamagedError for what no version has written into the file ``where``."""
        try:
            options: Options = _read(self.options)
            if _SCALE in self.options:
                options.scale = Scale(**vars(options.scale))
            return options
        except (TypeError, RecursionError):
            raise DamagedError(f"{where} has options of no experiment; remove it.") from None

    def serialise(self) -> bytes:
        return files.json_bytes(files.seal(asdict(self)))

    @classmethod
    def parse(cls, content: bytes, where: Path) -> "Inference | None":
        """Return the content of a file; None for an older format, RunError for a newer one or a changed file."""
        table = unseal(content, where, FORMAT, "remove it, and it is made again")
        if table["format"] < FORMAT:
            return None
        return cls.from_table(table, where, "what predictions need")


def plain_options(experiment: Any, places: Iterable[str]) -> dict[str, Any]:
    """Return the options of a resolved experiment that predictions may read, without the ``places`` of its data."""
    tables = {name: value for name, value in experiment.model_dump().items() if name not in _OF_TRAINING}
    for key in places:
        _table(tables, key).pop(key.rpartition(".")[2], None)
    for key in _COMPUTED:
        table, _, name = key.partition(".")
        if hasattr(getattr(experiment, table, None), name):
            tables[table][name] = getattr(getattr(experiment, table), name)
    if hasattr(experiment, _SCALE):
        tables[_SCALE] = asdict(experiment.scale)
    return tables


def read(run: Path, belongs_to: Mapping[str, str] | None = None) -> Inference | None:
    """Return what the file of a run has; None where there is none, or one of an older format or of other options.

    ``belongs_to`` is None where these do not matter.

    Raises RunError for one of a newer format, DamagedError for a changed one.
    """
    path = run / INFERENCE
    if not path.exists() and not path.is_symlink():
        return None
    found = Inference.parse(files.read(path, _LARGEST), path)
    return found if found and belongs_to in (None, found.belongs_to) else None


def write(run: Path, found: Inference) -> None:
    """Store it in place of any other; RunError where the folder cannot be written to."""
    store(run / INFERENCE, found.serialise())


def describe_run(run: Run, task: Any, experiment: Any, model: Any) -> Inference:
    """Return what predictions need of a run of a ``task`` beside its weights; ``model`` is its network in torch."""
    from anaphora.models.description import describe

    try:
        network = describe(model)
    except ConfigError:
        network = None
    kinds = kinds_of(tensors_of(model))
    found = Inference(
        format=FORMAT,
        task=task.name,
        model=task.model,
        noun=task.noun,
        see=task.see,
        options=plain_options(experiment, experiment.places),
        network=network,
        tensors={name: kind.split()[-1] if isinstance(model, Growing) else kind for name, kind in kinds.items()},
        belongs_to=fingerprints_of(run),
    )
    stored = Inference.parse(found.serialise(), run.path / INFERENCE)
    assert stored is not None
    return stored


def fingerprints_of(run: Run) -> dict[str, str]:
    """Return the SHA-256 of all that describes a network but its weights."""
    return {name: digest for name, digest in run.fingerprints.items() if not name.startswith("data/")}


def sample_of(options: Options, tokenizers: Mapping[str, Any]) -> Batch:
    """Return a row of two steps of what a network reads and predicts: see ``inference.network.open_network``."""
    last = {side: tokenizer.symbols.size - 1 for side, tokenizer in tokenizers.items()}
    two_1, ids_12 = np.array([2]), np.full((1, 2), last.get("source", last.get("text", 0)))
    inputs: Items = SpeltIds(ids_12, two_1, ids_12 * 0, np.array([[last.get("characters", 0)]]), two_1 - 1)
    targets: Items = Ids(ids_12, two_1)

    def vectors(size: int) -> Values:
        return Values(np.zeros((1, 2, size), np.float32), two_1)

    match options:
        case Options(encoder=Options(rows=rows, columns=columns, width=width)):
            inputs = Grid(np.zeros((1, rows * columns, width), np.float32))
        case Options(vectors=Options(size=size)):
            inputs = vectors(size)
        case Options(scale=Scale(mean_D=mean_D, pen=pen)):
            inputs = inputs if getattr(options, "model", "") == "synthesis" else vectors(len(mean_D) + pen)
            targets = vectors(len(mean_D) + pen + 1)
    if "tags" in tokenizers or hasattr(options, "classes"):
        names = tokenizers["tags"].vocabulary if "tags" in tokenizers else options.classes.names
        targets = Labels(np.array([len(names) - 1]))
    return Batch.of_rows([0], inputs, targets)


def _table(tables: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the table that the option of a dotted key stands in."""
    for name in key.split(".")[:-1]:
        tables = tables[name]
    return tables


def _read(value: Any) -> Any:
    """Return a value of JSON as predictors read it: tables by the names of their options, arrays as tuples."""
    if isinstance(value, list):
        return tuple(map(_read, value))
    return Options(**{name: _read(one) for name, one in value.items()}) if isinstance(value, dict) else value
