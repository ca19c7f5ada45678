"""Which kernels are applied along which sentences: every sentence ends where it should, by kernels that fit."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anaphora.kernels.folding import Plan, folding, unfolding

WIDEST = st.integers(2, 9)


def widths(plan: Plan, row: int, kind: str) -> list[int]:
    """Columns of the kernels of one kind that a sentence meets, in order."""
    return [
        application.width
        for application in plan.applications
        if row in application.rows and application.kernel == f"{kind}{application.width}"
    ]


@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=6), widest=WIDEST)
def test_every_sentence_is_closed_once_by_a_kernel_as_wide_as_what_is_left_of_it(
    lengths: list[int], widest: int
) -> None:
    plan = folding(lengths, widest)
    for row, length in enumerate(lengths):
        left = length - sum(width - 1 for width in widths(plan, row, "fold"))
        assert widths(plan, row, "close") == [left]
        assert left <= widest
    assert plan.columns == [1] * len(lengths)


@given(lengths=st.lists(st.integers(1, 60), min_size=1, max_size=6), widest=WIDEST)
def test_kernels_grow_by_one_up_to_the_widest(lengths: list[int], widest: int) -> None:
    applied = [
        application.width
        for application in folding(lengths, widest).applications
        if application.kernel.startswith("fold")
    ]
    assert applied[:1] in ([], [2])
    assert all(later == min(first + 1, widest) for first, later in pairwise(applied))


@given(
    lengths=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=6),
    widest=WIDEST,
    folds=st.integers(1, 4),
)
def test_a_sentence_rests_where_it_has_columns_enough(lengths: list[tuple[int, int]], widest: int, folds: int) -> None:
    plan = folding([length for length, _ in lengths], widest, folds, [enough for _, enough in lengths])
    for row, (length, enough) in enumerate(lengths):
        folded, closed = widths(plan, row, "fold"), widths(plan, row, "close")
        left = length - sum(width - 1 for width in folded)
        assert plan.columns[row] == (1 if closed else left) <= enough
        if not closed:
            assert len(folded) >= folds
            assert len(folded) == folds or left + folded[-1] - 1 > enough


@given(lengths=st.lists(st.tuples(st.integers(1, 20), st.integers(0, 40)), min_size=1, max_size=6), widest=WIDEST)
def test_unfolding_opens_once_and_then_takes_the_way_back_of_folding(
    lengths: list[tuple[int, int]], widest: int
) -> None:
    columns, wanted = [few for few, _ in lengths], [few + more for few, more in lengths]
    plan = unfolding(columns, wanted, widest)
    assert plan.columns == wanted
    back = folding([more + 1 for _, more in lengths], widest)
    for row in range(len(lengths)):
        assert widths(plan, row, "open") == widths(back, row, "close")
        assert widths(plan, row, "unfold") == widths(back, row, "fold")[::-1]


def test_four_grams_of_a_sentence_are_unfolded_by_the_kernels_that_made_them() -> None:
    (two, three) = folding([9], 7, 2, [9]).applications
    assert (two.kernel, two.columns, three.kernel, three.columns) == ("fold2", 9, "fold3", 8)
    assert [(application.kernel, application.columns) for application in unfolding([6], [9], 7).applications] == [
        ("open3", 6),
        ("unfold2", 8),
    ]
