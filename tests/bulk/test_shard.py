"""How a text is divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.bulk.shard import shards

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12)


@given(st.lists(LINE, max_size=30), st.integers(1, 8), st.integers(1, 40))
def test_shards_are_byte_ranges_that_follow_each_other_and_end_with_a_line(
    lines: list[str], size: int, longest: int
) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    found = list(shards(lines, size, longest))
    assert [shard.number for shard in found] == list(range(len(found)))
    assert b"".join(shard.source for shard in found) == content
    end, first = 0, 1
    for shard in found:
        assert (shard.begin, shard.first) == (end, first)
        assert content[end : end + len(shard.source)] == shard.source
        assert 1 <= len(shard.lines) <= size
        assert all(len(one) < longest for one in [shard._replace(lines=shard.lines[:-1]).source])
        end, first = end + len(shard.source), first + len(shard.lines)


@pytest.mark.parametrize("count", [4_000, 29_000, 100_001])
def test_two_workers_that_share_a_text_end_together(count: int) -> None:
    busy = [0, 0]
    for shard in shards("" for _ in range(count)):
        busy[busy.index(min(busy))] += len(shard.lines)
    assert sum(busy) == count and count / max(busy) > 1.9
