"""How a text is divided."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.bulk.shard import RefusedLine, shards
from anaphora.errors import DataError

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12)


@given(st.lists(LINE, max_size=30), st.integers(1, 8), st.integers(1, 40))
def test_shards_are_consecutive_byte_ranges_that_end_with_a_line(lines: list[str], size: int, longest: int) -> None:
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


def test_lines_that_cannot_be_read_are_noted_in_their_shard_and_many_are_an_error() -> None:
    reasons = dict[int, str]()

    def read(bad: int) -> Iterator[str]:
        for number in range(1, 501):
            if number > 500 - bad:
                reasons[number] = f"line {number} is no text"
            yield ""

    first, *_, last = shards(read(2), 200, unreadable=reasons)
    assert first.unreadable == ()
    assert last.unreadable == (RefusedLine(499, "line 499 is no text"), RefusedLine(500, "line 500 is no text"))
    reasons.clear()
    with pytest.raises(DataError, match=r"^101 of the lines 1 to 500 cannot be read\. line 400 is no text$"):
        list(shards(read(101), 500, unreadable=reasons))


@pytest.mark.parametrize("count", [4_000, 29_000, 100_001])
def test_two_workers_that_share_a_text_end_together(count: int) -> None:
    busy = [0, 0]
    for shard in shards("" for _ in range(count)):
        busy[busy.index(min(busy))] += len(shard.lines)
    assert sum(busy) == count and count / max(busy) > 1.9
