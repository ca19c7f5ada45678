"""What is kept of finished shards, and what is refused."""

import json
import os
import resource
from pathlib import Path

import pytest

from anaphora.bulk.folder import Identity, ShardFolder
from anaphora.bulk.shard import RefusedLine, Shard, shards
from anaphora.errors import DataError, RunError

IDENTITY = Identity("model", "options", 2)
SHARDS = list(shards(["a", "bb", "ccc", "é", "e"], 2))


@pytest.fixture
def folder(tmp_path: Path) -> ShardFolder:
    """A folder with the first shard finished and its second line refused."""
    folder = ShardFolder(tmp_path / "out.shards", IDENTITY)
    folder.make()
    folder.claim()
    folder.keep(SHARDS[0], ["A", ""], [RefusedLine(2, "It is refused.")])
    return folder


@pytest.mark.parametrize("name", ["0000000.txt", "0000000.json"])
def test_a_shard_with_a_byte_changed_or_a_file_missing_is_not_finished(folder: ShardFolder, name: str) -> None:
    path = folder.path / name
    content = path.read_bytes()
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert folder.find(SHARDS[0]) is None
    path.write_bytes(content[:-2])
    assert folder.find(SHARDS[0]) is None
    path.unlink()
    assert folder.find(SHARDS[0]) is None


def test_outputs_are_joined_in_order_with_what_was_refused(folder: ShardFolder, tmp_path: Path) -> None:
    for shard in reversed(SHARDS[1:]):
        folder.keep(shard, [line.upper() for line in shard.lines], [RefusedLine(shard.first, "So is this.")])
    done = folder.join(3, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "A\n\nCCC\nÉ\nE\n"
    assert done.lines == 5 and [one.line for one in done.refused] == [2, 3, 5]


def test_a_missing_shard_is_one_error_and_others_and_the_old_output_stay(folder: ShardFolder, tmp_path: Path) -> None:
    folder.keep(SHARDS[2], ["E"], [])
    (tmp_path / "out").write_text("old")
    with pytest.raises(RunError, match=r"Shard 1 of 3 is lost, and .* again: .*0000001\.json is missing\."):
        folder.join(3, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "old"
    assert folder.find(SHARDS[0]) and folder.find(SHARDS[2])


@pytest.mark.parametrize("name", ["out", "out.gz"])
def test_a_disk_that_fills_while_shards_are_joined_keeps_them_and_the_old_output(
    folder: ShardFolder, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / name
    folder.keep(SHARDS[1], ["CCC", "É"], [])
    folder.join(2, output)
    whole = output.read_bytes()
    output.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in range(len(whole)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
        try:
            with pytest.raises(DataError, match=rf"{name} cannot be written: File too large"):
                folder.join(2, output)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(DataError, match="No space left"):
            folder.join(2, output)
    assert output.read_text() == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name, "out.shards"]
    folder.join(2, output)
    assert output.read_bytes() == whole


def test_a_folder_is_taken_by_another_model_only_while_it_has_no_shards(folder: ShardFolder) -> None:
    other = ShardFolder(folder.path, Identity("other", "others", 3))
    for path in folder.path.glob("0*"):
        path.unlink()
    other.claim()
    other.claim()
    other.keep(SHARDS[0], ["A", ""], [])
    differing = "another model and other search options and shards of another length"
    with pytest.raises(RunError, match=f"has shards of {differing}: remove it"):
        folder.claim()
    other.claim()
    assert other.find(SHARDS[0])


def test_a_shard_of_another_model_among_ours_is_refused(folder: ShardFolder) -> None:
    ShardFolder(folder.path, Identity("other", "options", 2)).keep(SHARDS[1], ["x", "y"], [])
    with pytest.raises(RunError, match=r"0000001\.json is a shard of another model"):
        folder.find(SHARDS[1])


def test_a_shard_of_another_text_is_refused(folder: ShardFolder) -> None:
    with pytest.raises(RunError, match="of a text with other lines 1 to 2: restore that text"):
        folder.find(Shard(0, 1, 0, ("a", "b")))


def test_a_changed_claim_is_reported(folder: ShardFolder) -> None:
    path = folder.path / "shards.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"lines": 3}))
    with pytest.raises(RunError, match="was changed after it was written"):
        folder.claim()
