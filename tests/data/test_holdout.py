"""The held-out part is small, seeded and apart."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from anaphora.data.holdout import HeldOut


def hold_out(sources: list[str], seed: int = 1) -> HeldOut:
    held = HeldOut(seed)
    for source in sources:
        held.add(source)
    held.choose()
    return held


@given(st.lists(st.text(max_size=3), max_size=200), st.integers(-(2**40), 2**40))
def test_what_is_held_out_is_what_was_counted_and_never_too_much(sources: list[str], seed: int) -> None:
    held = hold_out(sources, seed)
    inside = [source for source in sources if source in held]
    assert len(inside) == held.count <= max(1, len(sources) // 20)
    assert held.count < max(1, len(sources))


def test_at_most_two_thousand_are_held_out_and_duplicates_stay_together() -> None:
    sources = [str(number % 60_000) for number in range(100_000)]
    held = hold_out(sources)
    inside = Counter(source for source in sources if source in held)
    assert sum(inside.values()) == held.count
    assert 1990 < held.count <= 2000
    assert all(count == (2 if int(source) < 40_000 else 1) for source, count in inside.items())


def test_the_choice_depends_on_the_seed_and_not_on_the_order() -> None:
    sources = [str(number) for number in range(1000)]
    chosen = [{source for source in sources if source in held} for held in
              (hold_out(sources, 1), hold_out(sources[::-1], 1), hold_out(sources, 2))]  # fmt: skip
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 50


def test_sources_that_differ_in_case_or_spaces_stay_together() -> None:
    held = hold_out([str(number) for number in range(40)] + ["A  man", "a man ", "A MAN"])
    assert len({source in held for source in ("A  man", "a man ", "A MAN")}) == 1


def test_nothing_is_held_out_when_all_sources_are_one() -> None:
    assert hold_out(["same"] * 50).count == 0


def test_a_small_corpus_still_gives_one_pair() -> None:
    assert hold_out(["a", "b", "c"]).count == 1
