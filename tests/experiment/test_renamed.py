"""Options whose names changed: the map leads to options that there are, and files with old names still load."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from anaphora.cli.app import main
from anaphora.config import is_table, options_of
from anaphora.errors import ConfigError
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


def test_a_file_and_a_setting_with_old_names_mean_what_they_did() -> None:
    old = read_experiment(f'{TRANSLATE}[text]\nunits = "word"\ntokenise = "none"\nleast = 2\n', "old.toml")
    new = f'{TRANSLATE}[text]\ntokenizer = "word"\nsegmentation = "whitespace"\nmin_count = 2\n'
    assert old == read_experiment(new, "new.toml")
    by_setting = read_experiment(TRANSLATE, "x", ["training.optimizer.rate=0.5", "attention.span=local-p"])
    assert by_setting == read_experiment(
        TRANSLATE, "x", ["training.optimizer.learning_rate=0.5", "attention.window=local-p"]
    )


def test_old_names_are_warned_of_once_with_the_new_ones(
    toy_pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toml = tmp_path / "old.toml"
    toml.write_text(
        f'{TRANSLATE}[data]\nfiles = ["{toy_pairs}"]\nlongest = 30\ntarget = "fr"\n[text]\nunits = "character"\n'
        "[embedding]\nsize = 8\n[encoder]\nsize = 8\n[decoder]\nsize = 8\n[training]\nepochs = 1\n",
        encoding="utf-8",
    )
    settings = ["--set", "training.optimizer.rate=0.01"]
    assert main(["train", str(toml), "--run", str(tmp_path / "run"), *settings]) == 0
    said = capsys.readouterr()
    warnings = [line for line in (said.out + said.err).splitlines() if "is now" in line]
    assert len(warnings) == 1
    for change in (
        "data.longest is now data.max_length",
        "text.units is now text.tokenizer",
        "training.optimizer.rate is now training.optimizer.learning_rate",
    ):
        assert change in warnings[0]
    written = (tmp_path / "run" / "experiment.toml").read_text(encoding="utf-8")
    assert "max_length = 30" in written and "longest" not in written
