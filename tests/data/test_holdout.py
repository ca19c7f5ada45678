"""The held-out part is small, seeded and apart."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.holdout import HeldOut, fraction_of, is_held_out


def hold_out(sources: list[str], seed: int = 1) -> tuple[HeldOut, list[str]]:
    """A choice, and what it returned of the sources."""
    held = HeldOut(seed)
    for source in sources:
        held.add(source, f"{source} there")
    pairs = held.choose()
    assert pairs == [(source, f"{source} there") for source in sources if (source, "") in held]
    return held, [source for source, _ in pairs]


@given(st.lists(st.text("aAb é", max_size=3), max_size=200), st.integers(-(2**40), 2**40))
def test_what_is_held_out_is_never_too_much(sources: list[str], seed: int) -> None:
    _, inside = hold_out(sources, seed)
    assert len(inside) <= max(1, len(sources) // 20)
    assert len(inside) < max(1, len(sources))


def test_at_most_two_thousand_are_held_out_and_duplicates_stay_together() -> None:
    _, inside = hold_out([str(number % 25_000) for number in range(42_000)])
    assert 1990 < len(inside) <= 2000
    assert all(count == (2 if int(source) < 17_000 else 1) for source, count in Counter(inside).items())


def test_the_choice_depends_on_the_seed_and_not_on_the_order_and_can_be_given_again() -> None:
    sources = [str(number) for number in range(1000)]
    chosen = [set(hold_out(*given)[1]) for given in ((sources, 1), (sources[::-1], 1), (sources, 2))]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 50 and len(hold_out(["a", "b", "c"])[1]) == 1
    again = HeldOut(1)
    again.chosen = hold_out(sources)[0].chosen
    assert {source for source in sources if (source, "") in again} == chosen[0]


def test_sources_that_differ_in_case_or_spaces_stay_together() -> None:
    held, _ = hold_out([str(number) for number in range(40)] + ["A  man", "a man ", "A MAN"])
    assert len({(source, "") in held for source in ("A  man", "a man ", "A MAN")}) == 1


def test_nothing_is_held_out_when_all_sources_are_one() -> None:
    assert not hold_out(["same"] * 50)[1]
    assert not hold_out(["same"] * 40_000)[1]


def test_a_fraction_leaves_some_on_both_sides() -> None:
    many = [f"sentence {n}" for n in range(500)]
    one_in, held = fraction_of(many) or (0, 0)
    assert one_in == 10 and held == sum(is_held_out(one, 10) for one in many) and 30 < held < 70
    few = [one for one in many if not is_held_out(one, 10)][:8]
    one_in, held = fraction_of(few) or (0, 0)
    assert one_in in (5, 2) and 0 < held < 8
    assert fraction_of(["a b"]) is None and fraction_of(["a b", "A  b"]) is None and fraction_of([]) is None
