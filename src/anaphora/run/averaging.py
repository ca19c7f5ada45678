"""The mean of the weights of several checkpoints, which often predicts better than each of them."""

from collections.abc import Iterator

from torch import Tensor

from anaphora.errors import RunError
from anaphora.events import Note, Report, silent
from anaphora.files import DamagedError
from anaphora.run.checkpoint import Checkpoint
from anaphora.run.folder import Run
from anaphora.wording import counted


def average(run: Run, last: int, report: Report = silent) -> tuple[dict[str, Tensor], list[int]]:
    """The mean of the newest ``last`` checkpoints that are whole, tensor by tensor, and their updates, ascending.

    One checkpoint is held at a time, beside sums in double precision that are added up from the oldest to the newest;
    each mean is rounded once. Tensors that are no floating-point numbers are those of the newest. Raises RunError
    when there are fewer than two, or their tensors are not of the same names and shapes.
    """
    sums: dict[str, Tensor] = {}
    newest: dict[str, Tensor] = {}
    updates: list[int] = []
    for checkpoint in _whole(run, last, report):
        if updates and {name: t.shape for name, t in checkpoint.model.items()} != {n: t.shape for n, t in sums.items()}:
            raise RunError(f"{checkpoint.path} has other tensors than step-{updates[-1]}: they cannot be averaged.")
        for name, tensor in checkpoint.model.items():
            sums[name] = sums[name] + tensor.double() if updates else tensor.double()
        newest = dict(checkpoint.model)
        updates.append(checkpoint.update)
    if len(updates) < 2:
        raise RunError(f"{run.path} needs two whole checkpoints, but has {len(updates)}: raise training.keep.")
    return {
        name: (sums[name] / len(updates)).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in newest.items()
    }, updates


def _whole(run: Run, last: int, report: Report) -> Iterator[Checkpoint]:
    there = run.checkpoints()
    if len(there) < last:
        report(
            Note(
                f"{run.path} has {counted(len(there), 'checkpoint')}, and not {last}: training.keep says how many stay."
            )
        )
    for update in there[-last:]:
        try:
            yield run.load(update)
        except DamagedError as error:
            report(Note(f"{error} It is left out of the average.", warning=True))
