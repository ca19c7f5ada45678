"""One TOML text -> one frozen experiment, checked in every key."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from anaphora.errors import ConfigError
from anaphora.experiment.overrides import Table, explaining_leftovers, override, read_table
from anaphora.tasks.base import ExperimentBase, StartConfig
from anaphora.tasks.data_table import own_files, with_whole_paths
from anaphora.tasks.registry import named_in, parse


def read_experiment(
    text: str | Table,
    where: str,
    settings: Iterable[str] = (),
    *,
    data: Sequence[Path] = (),
    source: str = "",
    target: str = "",
    start: StartConfig | None = None,
) -> ExperimentBase:
    """The experiment in a TOML ``text`` that came from ``where``, with ``settings`` such as ``training.epochs=5``.

    ``data`` takes the place of the files in the ``[data]`` table, or of its corpus and the names of its parts;
    ``source`` and ``target`` replace the languages. ``start`` takes the place of the ``[start]`` table. Settings come
    last. Raises ConfigError with one sentence.
    """
    table = read_table(text, where) if isinstance(text, str) else dict(text)
    if data:
        table["data"] = own_files(table.get("data"), data)
    if start is not None:
        table["start"] = start.model_dump()
    _, kind = named_in(table, where)
    languages = [f'data.{side}="{code}"' for side, code in (("source", source), ("target", target)) if code]
    if languages and "source" not in kind.experiment.model_fields["data"].default.languages:
        raise ConfigError(f"{where} is no task of two languages, as --source and --target are for: leave them out.")
    settings = list(settings)
    with explaining_leftovers(settings, where):
        table = override(table, [*languages, *settings])
        experiment = parse(with_whole_paths(table, kind.experiment.places), where)
    for refusal in experiment.refusals():
        raise ConfigError(f"{where}: {refusal}")
    return experiment
