"""The experiment for those who name none: the task and its size by the look of the data, and reported."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

import tomli_w

from anaphora.data.directions import languages_named
from anaphora.data.finding import Names
from anaphora.errors import ConfigError
from anaphora.events import Note, Report, silent
from anaphora.experiment.overrides import Setting, Table, override
from anaphora.formats.tsv import Layout
from anaphora.options import MAX_COUNT
from anaphora.tasks.registry import TASKS, find_tasks, parse
from anaphora.tasks.sizing import tier_lines, value_at, word_at
from anaphora.tasks.task import GivenData, Task
from anaphora.text.tokenization import AnyTokenizer
from anaphora.wording import unknown

SUMMARY = "Chosen by the look of your data: a translator for pairs of sentences, a language model for running text."
"""Summary in one line."""

_TOKENIZERS: dict[str, type[AnyTokenizer]] = {one.tokenizer: one for one in get_args(AnyTokenizer)}
"""Tokenizers by name."""


def description() -> str:
    """Return the choices for each kind of data, for people to read, as comments of TOML."""
    lines = [
        SUMMARY,
        "",
        "Run:    anaphora train --data FOLDER|FILE",
        "        anaphora check --data FOLDER|FILE",
        "Own:    what was chosen stands in experiment.toml of the run folder; start a file of your own from that.",
    ]
    for task in _sized_tasks().values():
        lines += ["", *tier_lines(task.counted, task.tiers)]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def automatic(
    data: Sequence[Path],
    source: str = "",
    target: str = "",
    report: Report = silent,
    *,
    settings: Sequence[str] = (),
    text: AnyTokenizer | None = None,
    task: str = "",
    at_most: int = MAX_COUNT,
) -> str:
    """The TOML text of an experiment for ``data`` (as ``--data`` takes it), without a ``[data]`` table of its own.

    What is reported of it is what ``settings`` will make of it; a tokenizer that they name has its usual options.
    ``text`` is that of the run whose vocabulary is taken over, where one is; ``task`` names the task, which the data
    decides otherwise; a translator is sized for ``at_most`` so many pairs. Raises ConfigError when no data is given, a
    setting is none or no task of that name chooses by the data, DataError for data that cannot be read.
    """
    if not data:
        raise ConfigError(
            "Without a recipe, --data FOLDER|FILE says what to train on; anaphora recipes lists the recipes."
        )
    named = override({"data": {"train": "train", "valid": "val", "test": "test"}}, settings)
    if written := languages_named(data):
        task, source, target = task or "translate", written["source"], written["target"]
    languages = source or word_at(named, "data.source"), target or word_at(named, "data.target")
    train, valid, test = (word_at(named, f"data.{part}") for part in ("train", "valid", "test"))
    columns = value_at(named, "data.columns")
    columns = columns if isinstance(columns, list) else [value_at(named, "data.column")]
    names = Names(train, valid, test, layout_in(named), tuple(one for one in columns if isinstance(one, int | str)))
    tasks = _sized_tasks()
    if task and task not in tasks:
        raise ConfigError(unknown("--task", task, tasks))
    # the first task takes what no other claims
    given = GivenData(data, names, languages, text, word_at(named, "data.encoding") or "utf-8", at_most)
    chosen = tasks[task] if task else next(one for one in reversed(tasks.values()) if one.suits(given))
    sized = chosen.choose(given)
    table = sized.table
    asked = _TOKENIZERS.get(word_at(named, "text.tokenizer"))
    if text is None and asked is not None and asked != _TOKENIZERS.get(word_at(table, "text.tokenizer")):
        other = asked(lowercase=value_at(table, "text.lowercase") is True)
        table = {**chosen.choose(given._replace(text=other)).table, "text": asdict(other)}
    table = override(table, _changed_kinds(table, settings))
    model = chosen.describe(override(table, settings), text)
    report(Note(f"No recipe was named: for {sized.data}, {model}."))
    return tomli_w.dumps(table)


def _changed_kinds(table: Table, settings: Sequence[str]) -> Iterator[str]:
    """Yield a setting for each part of a table whose kind is set to another, which drops what was chosen for it."""
    chosen = parse(table, "the data").tables()
    for path, kind, _ in map(Setting.parse, settings):
        if path[-1:] == ("kind",) and value_at(chosen, ".".join(path)) not in (None, kind):
            yield f"{'.'.join(path[:-1])}={kind}"


def _sized_tasks() -> dict[str, Task]:
    """Return the tasks that are sized by the data, by name."""
    usual = ((name, find_tasks(name)[0]) for name in TASKS)
    return {name: task for name, task in usual if task.counted}


def layout_in(table: Table) -> Layout:
    """Return the layout of pairs by an unchecked ``[data]`` table; the default where it is not sound."""
    columns = value_at(table, "data.columns")
    named = columns[:2] if isinstance(columns, list) else []
    sound = [one for one in named if isinstance(one, str) or (type(one) is int and one > 0)]
    return Layout((sound[0], sound[1]) if len(sound) == 2 else None, value_at(table, "data.quoted") is True)
