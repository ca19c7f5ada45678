import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.errors import RunError
from anaphora.files import seal
from anaphora.run.manifest import Environment, FileEntry, Manifest, read_manifest

ENTRY = FileEntry(size=3, sha256="00")
GOOD = Manifest(
    format=1,
    step=7,
    files={name: ENTRY for name in ("model.safetensors", "optimizer.safetensors", "state.json")},
    fingerprints={"experiment.toml": "11"},
    environment=Environment(threads=2, processor="x", torch="2", precision="float32"),
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = [("format",), ("step",), ("files",), ("fingerprints",), ("environment",), ("files", "state.json", "size")]


def test_what_an_older_version_did_not_write_down_is_no_difference_but_other_rounding_is() -> None:
    unknown = GOOD.environment
    built, without = (unknown.with_options({"compiled": known}) for known in (True, False))
    assert unknown.rounds_like(built) and without.rounds_like(unknown) and built.rounds_like(built)
    assert not built.rounds_like(without) and not unknown.rounds_like(unknown.with_options({"threads": 1}))
    assert "no kernels in C" in without.describe() and "kernels" not in unknown.describe()
    before, after = built, built.with_options({"kernels": 2})
    assert after.rounds_like(after) and not before.rounds_like(after) and not after.rounds_like(before)
    assert "kernels in C (rounding 2)" in after.describe() and before.describe().endswith("kernels in C")


@settings(max_examples=60)
@given(st.sampled_from(KEYS), ANYTHING)
def test_any_value_is_refused_in_a_sentence_or_is_a_manifest(tmp_path: Path, keys: tuple[str, ...], value: Any) -> None:
    table = json.loads(GOOD.serialise())
    inner = table
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    (tmp_path / "manifest.json").write_text(json.dumps(seal(table)))
    try:
        assert seal(asdict(read_manifest(tmp_path))) == seal(table)
    except RunError as error:
        assert str(tmp_path / "manifest.json") in str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": 1, "x": NaN}',
        b'{"format": 1, "x": "\\ud800"}',
        b'{"format": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_manifest_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(RunError, match=r"manifest\.json"):
        read_manifest(tmp_path)
