"""The fingerprint of a corpus changes with the bytes and the order of its files, and with what is chosen from them."""

from pathlib import Path

import pytest

from anaphora.data.corpora import fingerprint
from anaphora.errors import DataError


def test_the_fingerprint_sees_bytes_order_and_choices(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_bytes(b"a")
    two.write_bytes(b"b")
    before = fingerprint([one, two], "all")
    assert before == fingerprint([one, two], "all")
    others = {fingerprint([two, one], "all"), fingerprint([one, two], "half"), fingerprint([one], "all")}
    one.write_bytes(b"c")
    others.add(fingerprint([one, two], "all"))
    assert len(others | {before}) == 5
    with pytest.raises(DataError, match="cannot be read"):
        fingerprint([tmp_path / "nowhere"])
