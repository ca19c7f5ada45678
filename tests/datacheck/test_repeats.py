"""Repeats found on disk are those that a dictionary in memory finds."""

from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.datacheck import survey
from anaphora.datacheck.findings import Place, Tally
from anaphora.datacheck.survey import Repeats

Line = tuple[int, str, str]
lines = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdef"), st.sampled_from("xyz")), max_size=60)


@given(lines=lines, buffered=st.sampled_from([1, 3, 1000]))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_counts_are_those_of_dictionaries(lines: list[Line], buffered: int, tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setattr(survey, "_BUFFERED", buffered)
    found = Repeats(tmp_path_factory.mktemp("repeats"))
    for number, (part, source, target) in enumerate(lines, 1):
        found.add(part, Place(Path(f"part{part}"), number), source, target)
    results = found.results(3)
    train = {(source, target) for part, source, target in lines if part == 0}
    for part in range(3):
        own = [(source, target) for owner, source, target in lines if owner == part]
        counts = {kind: tally.count for kind, tally in results[part].items()}
        distinct = set(own)
        assert counts.get("duplicate", 0) == len(own) - len(distinct)
        assert counts.get("ambiguous", 0) == sum(n - 1 for n in Counter(source for source, _ in distinct).values())
        if part:
            assert counts.get("overlap", 0) == sum(pair in train for pair in own)
            sources = {source for source, _ in train}
            assert counts.get("source-overlap", 0) == sum(s in sources and (s, t) not in train for s, t in own)


@given(lines=lines, every=st.integers(2, 4))
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sample_has_all_lines_of_its_sources_and_all_that_held_out_splits_share(
    lines: list[Line], every: int, tmp_path_factory
) -> None:
    ordered = sorted(lines, key=lambda line: line[0] == 0)
    whole, sample = Repeats(tmp_path_factory.mktemp("whole")), Repeats(tmp_path_factory.mktemp("sample"), every)
    for number, (split, source, target) in enumerate(ordered, 1):
        for found in (whole, sample):
            found.add(split, Place(Path(f"split{split}"), number), source, target)
    expected, results = (
        [{kind: tally for kind, tally in of.items() if tally.count} for of in found.results(3)]
        for found in (whole, sample)
    )
    assert results[1:] == expected[1:]
    drawn = [(s, t) for split, s, t in lines if split == 0 and (survey._hash(s) >> 32) % every == 0]
    assert sample.compared == len(drawn)
    assert results[0].get("duplicate", Tally()).count == len(drawn) - len(set(drawn))


def test_the_first_places_are_named_whatever_the_slices(tmp_path: Path) -> None:
    found = Repeats(tmp_path)
    for number in range(1, 401):
        found.add(0, Place(Path("train"), number), f"line {(number - 1) % 200}")
    tally = found.results(1)[0]["duplicate"]
    assert tally.count == 200
    assert [(place.line, place.shown) for place in tally.places] == [(201 + n, f"as {1 + n}") for n in range(5)]


def test_an_overlapping_source_is_named_with_its_first_training_line(tmp_path: Path) -> None:
    found = Repeats(tmp_path)
    found.add(1, Place(Path("valid"), 1), "source", "another")
    for number, target in enumerate("zyxwvu", 1):
        found.add(0, Place(Path("train"), number), "source", target)
    assert found.results(2)[1]["source-overlap"].places == [Place(Path("valid"), 1, "as train:1")]
