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


def test_a_letter_means_the_same_size_within_one_tensor_too() -> None:
    assert check_shapes(w_HH=np.zeros((3, 3))) == {"H": 3}
    with pytest.raises(ShapeError, match="w_HH has H=4, but w_HH has H=3"):
        check_shapes(w_HH=np.zeros((3, 4)))


def test_two_sizes_of_a_letter_are_refused_with_both_names() -> None:
    with pytest.raises(ShapeError, match="h_BH has B=5, but x_TBD has B=2: make the two agree"):
        check_shapes(x_TBD=np.zeros((3, 2, 4)), h_BH=np.zeros((5, 7)))


def test_a_wrong_number_of_dimensions_is_refused_with_the_shape_that_came() -> None:
    with pytest.raises(ShapeError, match=r"x_TBD should have 3 dimensions \(T x B x D\), but has 2: \(3, 2\)"):
        check_shapes(x_TBD=np.zeros((3, 2)))


def test_a_shape_error_is_both_ours_and_a_value_error() -> None:
    assert issubclass(ShapeError, AnaphoraError) and issubclass(ShapeError, ValueError)
