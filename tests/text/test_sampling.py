"""A sample is even, bounded and repeatable."""

from anaphora.text.sampling import sample


def test_a_short_text_is_taken_whole() -> None:
    assert sample(["a", "b"], 5) == (["a", "b"], 2)


def test_a_long_text_is_drawn_from_evenly_and_the_same_way_each_time() -> None:
    kept, seen = sample(map(str, range(100_000)), 2000)
    assert (len(kept), seen, len(set(kept))) == (2000, 100_000, 2000)
    assert abs(sum(map(int, kept)) / 2000 - 50_000) < 3000
    assert sample(map(str, range(100_000)), 2000)[0] == kept
