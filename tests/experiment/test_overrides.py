import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError
from anaphora.experiment.overrides import override, read_table


@pytest.mark.parametrize(
    ("setting", "table"),
    [
        ("training.clip_norm = 0.5", {"training": {"clip_norm": 0.5}}),
        ("decoder.cell=gru", {"decoder": {"cell": "gru"}}),
        ('decoder.cell="gru"', {"decoder": {"cell": "gru"}}),
        ('data.files=["a", "b"]', {"data": {"files": ["a", "b"]}}),
        ("data.source=a = b", {"data": {"source": "a = b"}}),
        ("task=", {"task": ""}),
    ],
)
def test_values_are_toml_and_bare_words_are_strings(setting: str, table: dict[str, object]) -> None:
    assert override({}, [setting]) == table


def test_an_option_of_a_part_given_by_name_makes_it_a_table() -> None:
    table = override({"decoder": {"cell": "gru"}}, ["decoder.cell.reset=before"])
    assert table == {"decoder": {"cell": {"kind": "gru", "reset": "before"}}}


def test_the_last_setting_wins_and_the_table_given_stays_as_it_was() -> None:
    before = {"training": {"epochs": 1, "seed": 7}}
    after = override(before, ["training.epochs=2", "training.epochs=3"])
    assert after == {"training": {"epochs": 3, "seed": 7}}
    assert before == {"training": {"epochs": 1, "seed": 7}}


@pytest.mark.parametrize("setting", ["training.epochs", "=5", "training..epochs=5", ""])
def test_a_setting_without_key_or_value_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=r"^--set takes dotted\.key=value, but got "):
        override({}, [setting])


@given(st.text())
def test_no_value_is_ever_read_as_more_than_one_option(text: str) -> None:
    assert override({}, [f"a={text}"]).keys() == {"a"}


@pytest.mark.parametrize("text", ["a =", "[training\n", "a = 1\na = 2", '"'])
def test_what_is_not_toml_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^my\.toml should be TOML, but is not: .*(line|end of document)"):
        read_table(text, "my.toml")
