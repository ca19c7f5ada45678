"""Every row of every table of conflicts names options that exist; one about a name that is gone would do nothing."""

import pytest

from anaphora.config import options_of
from anaphora.evaluation.adaptation import Dynamic
from anaphora.options import Conflict
from anaphora.tasks.registry import every_task

from .runs import tables_in, tables_within


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
