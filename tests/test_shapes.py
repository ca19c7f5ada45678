"""Shape letters: tensors that agree give their sizes, tensors that do not are refused with both names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import AnaphoraError, ShapeError
from anaphora.shapes import check_shapes


@given(st.dictionaries(st.sampled_from("BTSDHGVNKM"), st.integers(0, 9), min_size=1, max_size=4))
def test_tensors_that_agree_give_the_size_of_every_letter(sizes: dict[str, int]) -> None:
    letters = "".join(sizes)
    named = {
        f"x_{letters}": np.zeros(list(sizes.values()), dtype=bool),
        f"some_name_{letters[::-1]}": np.zeros(list(sizes.values())[::-1], dtype=bool),
    }
    assert check_shapes(**named) == sizes


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"w_HH": (3, 4)}, "w_HH has H=4, but w_HH has H=3"),
        ({"x_TBD": (3, 2, 4), "h_BH": (5, 7)}, "h_BH has B=5, but x_TBD has B=2: make the two agree"),
        ({"x_TBD": (3, 2)}, r"x_TBD should have 3 dimensions \(T x B x D\), but has 2: \(3, 2\)"),
    ],
)
def test_sizes_that_differ_are_refused_with_both_names(named: dict[str, tuple[int, ...]], message: str) -> None:
    with pytest.raises(ShapeError, match=message) as refused:
        check_shapes(**{name: np.zeros(shape) for name, shape in named.items()})
    assert isinstance(refused.value, AnaphoraError) and isinstance(refused.value, ValueError)
