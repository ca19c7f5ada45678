"""What can be set is listed from the classes that own it: nothing is missing and no default is another."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from anaphora import recipes
from anaphora.experiment.reading import read_experiment
from anaphora.experiment.settings import chosen, every_setting, settings_at

from .conftest import Cli

LABELS = ("kind", "tokenizer", "model")
"""The options that tell tables apart, which are shown as the tables' names."""


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def test_every_key_of_a_written_out_experiment_is_a_setting() -> None:
    keys = {key for name in recipes.names() for key, _ in flat(read_experiment(recipes.read(name), name).tables())}
    for key in keys:
        table, _, name = key.rpartition(".")
        assert settings_at(table if table and name in LABELS else key)


def defaults(key: str) -> list[Any]:
    shown = [owned.setting.default for _, owned in settings_at(key)]
    return [tomllib.loads(f"value = {default}")["value"] for default in shown if default]


@pytest.mark.parametrize("minimal", ['task = "translate"', 'task = "language-model"', 'task = "align"'])
def test_the_defaults_that_are_shown_are_those_that_are_taken(minimal: str) -> None:
    for key, value in flat(read_experiment(minimal, "minimal").tables()):
        table, _, name = key.rpartition(".")
        if key == "task" or name in LABELS:
            continue
        of_table = [
            whole[name] for whole in (defaults(table) if table else []) if isinstance(whole, dict) and name in whole
        ]
        assert (list(value) if isinstance(value, tuple) else value) in [*defaults(key), *of_table], key


def test_a_default_may_be_written_as_it_is_shown() -> None:
    usual = read_experiment('task = "translate"', "minimal")
    for owned in every_setting():
        if owned.setting.default and (not owned.of or "translators" in owned.of):
            written = f"{owned.setting.name} = {owned.setting.default}"
            assert read_experiment(f'task = "translate"\n{written}', "written") == usual


@pytest.mark.matrix
@pytest.mark.parametrize("recipe", recipes.names())
def test_what_an_experiment_chose_makes_it_out_of_the_defaults(recipe: str) -> None:
    experiment = read_experiment(recipes.read(recipe), recipe)
    settings = list(chosen(experiment))
    [task] = (setting for setting in settings if setting.startswith("task="))
    assert read_experiment(task, "defaults", [setting for setting in settings if setting != task]) == experiment
    assert list(chosen(read_experiment(task, "defaults"))) == [task]


def test_settings_are_shown_from_the_tables_down_to_one_option(cli: Cli) -> None:
    tables = cli("settings").out
    assert "\nencoder " in tables and "\nngram " in tables
    decoder = cli("settings", "decoder").out
    assert '  cell = "lstm"\n' in decoder and "see anaphora settings decoder.cell)" in decoder
    cell = cli("settings", "decoder.cell").out
    assert '"gru": ' in cell and '  reset = "after"\n' in cell
    [found] = cli("settings", "training.epochs", "--json").json
    assert (found["table"], found["setting"]["name"], found["setting"]["default"]) == ("training", "epochs", "10")
    assert cli("settings", "decoder.cell.kind").out == cell and "Undefined" not in cli("settings", "attention").out
    assert "Did you mean 'training.epochs'" in cli.refuse("settings", "training.epoch")
