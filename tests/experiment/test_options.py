"""Conflicts and renamed options name options that exist, old names still load, and every size has an upper bound."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from annotated_types import Le, Lt

from anaphora.config import is_table, options_of
from anaphora.errors import ConfigError
from anaphora.evaluation.adaptation import Dynamic
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.options import Conflict
from anaphora.run.upgrade import GONE, NAMES, ROOT, VALUES, rename_keys
from anaphora.tasks.registry import TASKS, every_task, find_tasks

ROOTS = {"members", "model"}
TRANSLATE = 'task = "translate"\n'


def fields(annotation: Any, table: str) -> Iterator[tuple[str, str]]:
    """Every option that a value of this type may have, with the name of the table it stands in."""
    if is_table(annotation):
        for name, field in options_of(annotation).items():
            yield table, name
            yield from fields(field.annotation, ROOT if name in ROOTS else name)
    for argument in get_args(annotation):
        yield from fields(argument, table)


def test_every_old_name_leads_to_an_option_and_none_has_a_second_meaning() -> None:
    options = defaultdict[str, set[str]](set)
    for task in every_task():
        for table, name in fields(task.experiment, ROOT):
            options[table].add(name)
    tables = {table: NAMES[ROOT].get(table, NAMES["attention"].get(table, table)) for table in NAMES}
    for table, names in NAMES.items():
        present = options[tables[table]]
        for old, new in names.items():
            assert new == GONE or new in present, f"{table}.{old}"
            assert old not in present, f"{table}.{old} is an option of today"
    assert not any(set(words) & set(words.values()) for words in VALUES.values())


@pytest.mark.parametrize(("table", "old", "new"), [("", "window", "network"), ("text", "units", "tokenizer")])
def test_an_option_under_both_names_is_refused(table: str, old: str, new: str) -> None:
    both: dict[str, Any] = {old: 1, new: 2}
    with pytest.raises(ConfigError, match=rf"{old} is the old name of .*{new}, and both are given: keep one"):
        rename_keys({table: both} if table else both, "mine.toml")


def test_a_file_and_settings_with_old_names_mean_what_they_did_and_one_warning_has_the_new_ones() -> None:
    warnings = list[Event]()
    old = f'{TRANSLATE}[data]\nlongest = 30\n[text]\nunits = "word"\ntokenise = "none"\nleast = 2\n'
    settings = ["training.optimizer.rate=0.5", "attention.span=local-p"]
    found = read_experiment(old, "old.toml", settings, report=warnings.append)
    new = (
        f'{TRANSLATE}[data]\nmax_length = 30\n[text]\ntokenizer = "word"\nsegmentation = "whitespace"\nmin_count = 2\n'
    )
    today = ["training.optimizer.learning_rate=0.5", "attention.window=local-p"]
    assert found == read_experiment(new, "new.toml", today, report=warnings.append)
    assert "longest" not in found.to_toml()
    [warning] = warnings
    assert isinstance(warning, Note) and warning.warning
    for change in (
        "data.longest is now data.max_length",
        "text.units is now text.tokenizer",
        "training.optimizer.rate is now training.optimizer.learning_rate",
    ):
        assert change in warning.text


def tables_in(annotation: Any) -> Iterator[type]:
    """The tables that an option of this type may hold."""
    if is_table(annotation):
        yield annotation
    for argument in get_args(annotation):
        yield from tables_in(argument)


def tables_within(table: type) -> Iterator[type]:
    """A table of options, and all that may be in it."""
    yield table
    for field in options_of(table).values():
        for inner in tables_in(field.annotation):
            yield from tables_within(inner)


def has(table: type, key: str) -> bool:
    name, _, rest = key.partition(".")
    if name not in options_of(table):
        return False
    return not rest or any(has(inner, rest) for inner in tables_in(options_of(table)[name].annotation))


EXPERIMENTS = [task.experiment for task in every_task()]
TABLES = list(dict.fromkeys(table for experiment in (*EXPERIMENTS, Dynamic) for table in tables_within(experiment)))


def conflicts_of(table: type) -> list[Conflict]:
    return [conflict for owner in table.__mro__ for conflict in vars(owner).get("conflicts", ())]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_conflicts_name_options_of_their_table_or_of_one_that_shares_them(table: type) -> None:
    for conflict in conflicts_of(table):
        if not callable(conflict.options):
            sharing = [other for other in TABLES if conflict in conflicts_of(other)]
            assert any(all(has(other, key) for key in conflict.options) for other in sharing), conflict


TIMES_AND_TRIES = {
    *("epochs", "patience", "validate_every", "save_every", "keep", "skip_limit", "divergence_retries", "seed"),
    *("interval", "from_epoch", "warmup", "after", "updates", "model1_iterations", "hmm_iterations"),
    *("min_count", "max_word_pairs"),  # which leave something out
}
"""Whole numbers that take no memory, however large."""


@pytest.mark.parametrize("name", TASKS)
def test_every_whole_number_that_sizes_something_has_an_upper_bound(name: str) -> None:
    tables = {table for task in find_tasks(name) for table in tables_within(task.experiment)}
    unbounded = {
        f"{table.__name__}.{option}"
        for table in tables
        for option, field in options_of(table).items()
        if field.annotation is int and option not in TIMES_AND_TRIES
        if not any(isinstance(one, Le | Lt) for one in field.metadata)
    }
    assert not unbounded and len(tables) > 5
