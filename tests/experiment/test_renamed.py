"""Options whose names changed: the map leads to options that there are, and files with old names still load."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest

from anaphora.config import is_table, options_of
from anaphora.errors import ConfigError
from anaphora.events import Event, Note
from anaphora.experiment.reading import read_experiment
from anaphora.run.upgrade import GONE, NAMES, ROOT, VALUES, rename_keys
from anaphora.tasks.registry import every_task

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


def every_option() -> Mapping[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for task in every_task():
        for table, name in fields(task.experiment, ROOT):
            found[table].add(name)
    return found


def test_every_old_name_leads_to_an_option_and_none_has_a_second_meaning() -> None:
    options = every_option()
    tables = {table: NAMES[ROOT].get(table, NAMES["attention"].get(table, table)) for table in NAMES}
    for table, names in NAMES.items():
        present = options[tables[table]]
        for old, new in names.items():
            assert new == GONE or new in present, f"{table}.{old}"
            assert old not in present, f"{table}.{old} is an option of today"
    assert not any(set(words) & set(words.values()) for words in VALUES.values())


OLD = [("", "window", "network"), ("text", "units", "tokenizer")]


@pytest.mark.parametrize(("table", "old", "new"), OLD)
def test_an_option_under_both_names_is_refused(table: str, old: str, new: str) -> None:
    both: dict[str, Any] = {old: 1, new: 2}
    with pytest.raises(ConfigError, match=rf"{old} is the old name of .*{new}, and both are given: keep one"):
        rename_keys({table: both} if table else both, "mine.toml")


def test_what_is_in_the_names_of_today_stays_as_it_is() -> None:
    for table, names in NAMES.items():
        today = {name: 1 for name in names.values() if name}
        whole = {NAMES[ROOT].get(table, table): today} if table else today
        assert rename_keys(whole) == (whole, [])


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
