import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anaphora.formats.json_text import figures_as_json

FIGURES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def refuse(name: str) -> float:
    raise AssertionError(f"{name} is no JSON")


def with_null(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [with_null(one) for one in value]
    return {name: with_null(one) for name, one in value.items()} if isinstance(value, dict) else value


@given(FIGURES)
def test_figures_come_back_as_they_are_and_null_where_they_are_not_finite(figures: Any) -> None:
    assert json.loads(figures_as_json(figures), parse_constant=refuse) == with_null(figures)


def test_letters_are_spelt_and_tuples_are_lists() -> None:
    assert figures_as_json({"naïve": (1.5, math.nan)}) == '{"naïve": [1.5, null]}'
    assert figures_as_json({"a": -math.inf}, indent=2) == '{\n  "a": null\n}'
