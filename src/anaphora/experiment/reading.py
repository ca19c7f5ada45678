"""One TOML text -> one frozen experiment, checked in every key."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from anaphora.errors import ConfigError
from anaphora.events import Note, Report, silent
from anaphora.experiment.overrides import Setting, Table, explaining_leftovers, override, read_table
from anaphora.run.manifest import FORMAT
from anaphora.run.upgrade import RenamedKey, rename_keys, upgrade
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
    report: Report = silent,
) -> ExperimentBase:
    """The experiment in a TOML ``text`` that came from ``where``, with ``settings`` such as ``training.epochs=5``.

    ``data`` takes the place of the files in the ``[data]`` table, or of its corpus and the names of its splits;
    ``source`` and ``target`` replace the languages. ``start`` takes the place of the ``[start]`` table. Settings come
    last. Options may have their names of format 1, unless the text says ``format = 2``; one warning is reported then.
    Raises ConfigError with one sentence.

    >>> experiment = anaphora.read_experiment('task = "language-model"', "mine.toml", data=[Path("book.txt")])
    >>> experiment.task
    'language-model'
    """
    table, found = present(read_table(text, where) if isinstance(text, str) else dict(text), where)
    settings = list(settings)
    found += [old for setting in map(Setting.parse, settings) for old in setting.old]
    if found:
        names = "; ".join(map(str, dict.fromkeys(found)))
        report(Note(f"Old names of options still work, but change them: {names}.", warning=True))
    if data:
        table["data"] = own_files(table.get("data"), data)
    if start is not None:
        table["start"] = start.model_dump()
    task = named_in(table, where)
    languages = [f'data.{side}="{code}"' for side, code in (("source", source), ("target", target)) if code]
    if languages and "source" not in task.experiment.model_fields["data"].default.languages:
        raise ConfigError(f"{where} is no task of two languages, as --source and --target are for: leave them out.")
    with explaining_leftovers(settings, where):
        table = override(table, [*languages, *settings])
        experiment = parse(with_whole_paths(table, task.experiment.places), where)
    for refusal in experiment.refusals():
        raise ConfigError(f"{where}: {refusal}")
    return experiment


def present(table: Table, where: str) -> tuple[Table, list[RenamedKey]]:
    """Return a table in the names of the present format, and what a person should rename in it; without ``format``.

    A table without it is of format 1. One that says so is that of a run, in which nobody has to rename anything.
    """
    given = {name: value for name, value in table.items() if name != "format"}
    number = table.get("format")
    if number is None:
        return rename_keys(given, where)
    if isinstance(number, bool) or number not in range(1, FORMAT + 1):
        raise ConfigError(f"{where}: format should be from 1 to {FORMAT}, but is {number!r}: leave it out.")
    return upgrade(given, number), []
