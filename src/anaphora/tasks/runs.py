"""From run folders to experiments, to trained networks, and to what a person calls.

On the CPU, with the library in C, a predictor computes with numpy and that library alone: what it needs of the options
stands in the run (``run.inference``). What has no description there, and a GPU, take a network of torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict, TypeVar, Unpack, cast, overload

from anaphora.errors import ConfigError, MissingExtraError, RunError, ShapeError
from anaphora.events import Note, Report, silent
from anaphora.files import DamagedError, sha256
from anaphora.formats.arrays import ArrayFile
from anaphora.kernels.backends import InferencePrecision, obstacle, runs_in_c
from anaphora.kernels.device import Device
from anaphora.kernels.runtime import Runtime, running
from anaphora.languages import choose_direction
from anaphora.prediction.runtime import runtime_for
from anaphora.protocols import Growing
from anaphora.run import Checkpoint, Run, Which, inference
from anaphora.run.bundle import Bundle, BundlePrecision, is_bundle
from anaphora.run.bundle import write as write_bundle
from anaphora.run.inference import Inference, sample_of
from anaphora.run.layout import EXPERIMENT
from anaphora.run.weights import Arrays, check_fit, check_kinds, serialise
from anaphora.tasks.registry import FILES, TASKS, find_tasks, parse, predictor_module, task_of
from anaphora.text.words import with_rules

if TYPE_CHECKING:
    import numpy.typing as npt

    from anaphora.tasks.base import ExperimentBase
    from anaphora.tasks.task import Task

Predictor = TypeVar("Predictor")
Tokenizers = Mapping[str, Any]
InitialState: TypeAlias = "str | Path | Mapping[str, npt.ArrayLike] | None"


class TrainedModel(NamedTuple):
    """A checkpoint of a run folder, read and put together."""

    path: Path
    experiment: Any
    """Resolved; plain ``Options`` where nothing of torch was read."""
    model: Any
    """Model in evaluation mode."""
    tokenizers: Tokenizers
    """Tokenizers by side."""
    runtime: Runtime
    """Device and precision of its predictor."""
    weights: Callable[[], str] = str
    """SHA-256 of its weights, which takes a while."""


def stored_experiment(run: Run) -> ExperimentBase:
    """Return the experiment that a run was begun with; ConfigError with one sentence."""
    return parse(run.experiment, str(run.path / EXPERIMENT))


def experiment_of(path: Path) -> ExperimentBase:
    """Return the experiment that a run folder was begun with; RunError where it is none."""
    demand_torch()
    return stored_experiment(Run.open(path))


def open_run(path: Path, experiment: ExperimentBase, data: Mapping[str, str] | None = None) -> Run:
    """A run folder of ``experiment``, whose card shows how it is used; ``data`` and errors as for ``Run.open``."""
    run = Run.open(path, data)
    run.use = task_of(experiment).example
    return run


def load_trained(path: Path, which: Which = "best", report: Report = silent) -> TrainedModel:
    """Return a checkpoint of a run folder with its experiment, network of torch and vocabularies.

    Raises RunError naming the file when the folder is none, damaged, or its files do not belong together.
    """
    run = Run.open(path)
    demand_torch()
    tokenizers = with_rules(run.tokenizers())
    checkpoint = load_fitting(run, tokenizers, which, report)
    experiment = stored_experiment(run)
    model = task_of(experiment).build(experiment, tokenizers, str(path / EXPERIMENT))
    checkpoint.fill(model)
    return TrainedModel(path, experiment, model.eval(), tokenizers, runtime_for(), digest_of(checkpoint.model))


def load_fitting(run: Run, tokenizers: Tokenizers, which: Which = "best", report: Report = silent) -> Checkpoint:
    """Read a checkpoint and compare its tensors with the network of the run, before there is memory for any of it.

    ``tokenizers`` are those of the run. Raises RunError naming the first that does not belong.
    """
    checkpoint, experiment = run.load(which, report), stored_experiment(run)
    shape = task_of(experiment).outline(experiment, tokenizers, str(run.path / EXPERIMENT))
    file = checkpoint.path / "model.safetensors"
    try:
        if isinstance(shape, Growing):  # whose tensors are as long as what it learnt
            shape.allocate({name: tensor.shape for name, tensor in checkpoint.model.items()})
    except ShapeError as error:
        raise RunError(f"{file} belongs to another experiment: {error}") from None
    check_fit(shape, checkpoint.model, file)
    return checkpoint


def task_at(path: Path) -> Task:
    """Return the task of a run folder, or of a file of another program; RunError where it is none."""
    name = opener_of(path)
    return find_tasks(name)[0] if name else task_of(experiment_of(path))


def kind_at(path: Path) -> Task | Inference:
    """Return what names the kind of model at a path, without torch where the run says it: its noun and its verbs."""
    if is_bundle(path):
        return Bundle.open(path).inference
    return task_at(path) if opener_of(path) else inference.read(path) or task_at(path)


def options_at(path: Path) -> Any:
    """Return the options that predictions read of a run or a bundle."""
    kind = kind_at(path)
    return kind.experiment(path) if isinstance(kind, Inference) else experiment_of(path)


def direction_at(path: Path, target: str = "", source: str = "") -> tuple[str, str] | None:
    """Return the pair of languages that is asked for of a run of several; None for any other run.

    Raises ConfigError as ``choose_direction``, and where the source stays open.
    """
    known = getattr(getattr(options_at(path), "data", None), "directions", ())
    if len(known) < 2:
        return None
    languages = choose_direction(known, target, source)
    if not languages[0]:
        raise ConfigError(f"{path} translates several languages to {languages[1]}: name one with --source.")
    return languages


def export_bundle(path: Path, output: Path, precision: BundlePrecision = "fp32", report: Report = silent) -> None:
    """Write the best checkpoint of a run as a bundle: one file that ``load`` takes in place of the run folder.

    Raises ConfigError for a model without a network, or for a name of another ending, and as ``load``.
    """
    run = Run.open(path)
    write_bundle(output, run, inference_of(run, report), run.load("best", report), precision)


def opener_of(path: Path) -> str | None:
    """Return the task that opens a file of another program, which stands for a run, by its ending; None for others."""
    name = path.name.lower()
    return next((task for ending, task in FILES.items() if name.endswith(ending) and not path.is_dir()), None)


class LoadKeywords(TypedDict, total=False):
    """Keyword arguments of ``load`` for any kind of run."""

    device: Device
    precision: InferencePrecision
    initial_state: InitialState
    to: str
    source: str
    report: Report


@overload
def load(
    run: str | Path, which: Which = "best", *, kind: type[Predictor], **options: Unpack[LoadKeywords]
) -> Predictor: ...
@overload
def load(run: str | Path, which: Which = "best", **options: Unpack[LoadKeywords]) -> Any: ...
def load(
    run: str | Path,
    which: Which = "best",
    *,
    kind: type[Predictor] | None = None,
    device: Device = "cpu",
    precision: InferencePrecision = "fp32",
    initial_state: InitialState = None,
    to: str = "",
    source: str = "",
    report: Report = silent,
) -> Any:
    """Return the predictor of a run folder's checkpoint, or of a bundle (``.anaphora``), ready to use.

    It runs on ``device`` ("cpu" or "cuda") and multiplies in ``precision`` ("fp32", "bf16", "int8", or "auto" for bf16
    where the processor has instructions for it). In place of a run, an ARPA file (``.arpa``, ``.lm``, also gzipped) is
    the language model in it. Recurrent layers start from the vectors of ``initial_state``, arrays by name or a file of
    them (``nn.stack.start_from``), in place of zeros or of learned ones. A translator of several pairs of languages is
    that ``to`` a language, perhaps from one ``source``. With a ``kind``, such as ``TranslationPredictor``, the
    predictor has to be one, and type checkers know it.

    Raises RunError where there is no run that is whole, or one of another kind, DataError for a file that is no ARPA or
    array file, ConfigError for a device that is not there or that such a model cannot run on, and for an initial state
    that it has not, ShapeError for one of another size.

    >>> translator = anaphora.load("runs/en-fr", kind=anaphora.TranslationPredictor)
    >>> translator.translate(["The cat sees a very small bird"])[0].text
    'Le chat voit un tout petit oiseau'
    """
    path = Path(run)
    found = _load(path, which, device, precision, initial_state, report)
    if kind and not isinstance(found, kind):
        other = kind_at(path)
        raise RunError(f"{path} should be {getattr(kind, 'noun', kind.__name__)}, but is {other.noun}: {other.see}.")
    return in_languages(found, path, to, source)


def in_languages(predictor: Any, path: Path, to: str = "", source: str = "") -> Any:
    """Return the predictor of a run in these languages, itself for none; ConfigError for one that is no translator."""
    if (to or source) and not hasattr(predictor, "with_languages"):
        raise ConfigError(f"{path} is no translator, which --to and --source are for: leave them out.")
    return predictor.with_languages(to, source) if to or source else predictor


def _load(
    path: Path, which: Which, device: Device, precision: InferencePrecision, initial_state: InitialState, report: Report
) -> Any:
    if is_bundle(path):
        if initial_state is not None:
            raise ConfigError(f"{path} is a bundle, which takes no other initial state: load the run folder.")
        return _load_bundle(path, device, precision)
    opener, runtime = opener_of(path), runtime_for(device, precision)
    if opener is None and device == "cpu" and initial_state is None and runs_in_c(runtime.inference_backend):
        described = _load_described(path, which, runtime, report)
        if described is not None:
            return described
    if opener is None and device == "cpu" and (lack := obstacle(runtime.inference_backend)):
        demand_torch(f" The library in C, which needs no torch, {lack}.")
    trained = None if opener else load_trained(path, which, report)
    if device != "cpu" and not (trained and task_of(trained.experiment).on_gpu):
        raise ConfigError(f'{path} can run on the CPU alone, but device = "{device}": leave it out.')
    if trained is None:
        if initial_state is not None:
            raise ConfigError(f"{path} has no recurrent layers, which an initial state is for: leave it out.")
        return predictor_module(cast(str, opener)).open_file(path)
    trained.model.to(runtime.device)
    if initial_state is not None:
        from anaphora.nn.stack import start_from

        if not isinstance(initial_state, Mapping):
            file = ArrayFile(Path(initial_state))
            initial_state = {name: file.real(name)[:] for name in file.names}
        start_from(trained.model, initial_state)
    return task_of(trained.experiment).predictor(trained._replace(runtime=runtime))


def _load_described(path: Path, which: Which, runtime: Runtime, report: Report) -> Any:
    """Return the predictor of a run whose network is computed by numpy and C; None where it has no description."""
    run = Run.open(path)
    found = inference_of(run, report)
    if found.network is None:
        return None
    checkpoint = run.load(which, report)
    weights, where = checkpoint.model, checkpoint.path / "model.safetensors"
    check_kinds(found.tensors, weights, where)
    trained = TrainedModel(path, None, None, run.tokenizers(), runtime, digest_of(weights))
    return _make_predictor(found, weights, where, trained, lambda: load_trained(path, which).model)


def _load_bundle(path: Path, device: Device, precision: InferencePrecision) -> Any:
    """Return the predictor of a bundle, which computes in its own precision where it is a lower one than fp32."""
    bundle = Bundle.open(path)
    own = bundle.contents.precision
    if own != "fp32":
        if precision not in ("fp32", "auto", own):
            raise ConfigError(f'{path} has weights in {own}, and not for precision = "{precision}": leave it out.')
        precision = own
    runtime = runtime_for(device, precision)
    if device != "cpu":
        raise ConfigError(f"{path} is a bundle, which runs on the CPU alone: load the run folder here.")
    if lack := obstacle(runtime.inference_backend):
        raise ConfigError(f"{path} is a bundle, which the library in C computes, but that {lack}. Load its run folder.")
    trained = TrainedModel(path, None, None, bundle.tokenizers(), runtime, lambda: bundle.contents.weights)
    return _make_predictor(bundle.inference, bundle.weights(), path, trained, partial(_refuse_gradients, path))


def _make_predictor(
    found: Inference, weights: Arrays, where: Path, trained: TrainedModel, in_torch: Callable[[], Any]
) -> Any:
    """Return the predictor of a described network with the weights in the file ``where``.

    ``in_torch`` returns the same in torch, for gradients.
    """
    from anaphora.inference.network import open_network

    if found.task not in TASKS or found.network is None:
        raise DamagedError(f"{trained.path} is of a task that this version does not know: {found.task!r}.")
    symbols = [tokenizer.symbols for tokenizer in trained.tokenizers.values()]
    options = found.experiment(trained.path)
    try:
        with running(trained.runtime):
            model = open_network(found.network, weights, sample_of(options, trained.tokenizers))
    except DamagedError as error:
        raise DamagedError(f"{where}: {error}") from None
    if getattr(model, "symbols", None) not in (None, *symbols):
        raise DamagedError(f"{trained.path} has another vocabulary than its network.")
    if (
        hasattr(model, "several")
        and bool(model.several) != (getattr(options, "classes", None) or options.output).several
    ):
        raise DamagedError(f"{trained.path} has other classes than its network.")
    model.in_torch = cache(in_torch)
    trained = trained._replace(experiment=options, model=model, tokenizers=with_rules(trained.tokenizers))
    return predictor_module(found.task).make_predictor(trained)


def _refuse_gradients(path: Path) -> Any:
    raise ConfigError(f"{path} is a bundle, whose weights have no gradients: take the run folder for that.")


def inference_of(run: Run, report: Report = silent) -> Inference:
    """Return what predictions need of a run, from its file, or made anew where it has none that is of use.

    What is made is stored where the folder can be written to. Raises RunError for a file that was changed or has a
    newer format, and MissingExtraError where it has to be made and torch is not there.
    """
    found = inference.read(run.path, inference.fingerprints_of(run))
    if found is None:
        trained = load_trained(run.path, report=report)
        found = inference.describe_run(run, task_of(trained.experiment), trained.experiment, trained.model)
        with suppress(RunError):
            inference.write(run.path, found)
    return found


def store_inference(run: Run, experiment: ExperimentBase, model: Any, report: Report) -> None:
    """Write what predictions need of a run in training beside its checkpoints; a failure is a warning."""
    try:
        inference.write(run.path, inference.describe_run(run, task_of(experiment), experiment, model))
    except RunError as error:
        report(Note(str(error), warning=True))


def digest_of(weights: Arrays) -> Callable[[], str]:
    """Return what computes the SHA-256 of weights."""
    return lambda: sha256(serialise(weights))


def demand_torch(alternative: str = "") -> None:
    """Raise MissingExtraError, with what would do as well, where torch is not there."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtraError("torch", "train", alternative) from None
