"""Arrays of every file format are read alike, as float32, and what is broken is refused by name before memory is."""

import os
import pickle
import warnings
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors

from anaphora.errors import DataError
from anaphora.formats import arrays as formats_arrays
from anaphora.formats.arrays import ArrayFile, Sequences
from tests.memory_bound import memory_below

FORMATS = ("npy", "npz", "compressed npz", "safetensors")
TYPES = ("<f2", "<f4", "<f8", ">f4", "|i1", "<i2", ">i4", "<i8", "|u1", "<u4", "|b1")
MEGABYTE = 1 << 20


def saved(folder: Path, form: str, values: Any, **more: Any) -> Path:
    """A file with an array of values, and with ``more`` in formats that take several."""
    path = folder / f"values.{form.split()[-1]}"
    if form == "npy":
        np.save(path, values)
    elif form == "safetensors":
        native = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))
        save_file({"values": native, **more}, path)
    else:
        (np.savez if form == "npz" else np.savez_compressed)(path, values=values, **more)
    return path


def message(path: Path, name: str = "values") -> str:
    with pytest.raises(DataError) as found:
        ArrayFile(path).real(name)[:]
    return str(found.value)


@settings(max_examples=60)
@given(st.data(), st.sampled_from(FORMATS), st.sampled_from(TYPES), st.booleans())
def test_every_format_and_type_gives_the_same_float32(
    tmp_path: Path, data: st.DataObject, form: str, dtype: str, fortran: bool
) -> None:
    kind = np.dtype(dtype)
    numbers = arrays.from_dtype(kind, allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000)
    numbers = numbers if kind.kind == "f" else arrays.from_dtype(kind)
    array = data.draw(arrays.arrays(kind, arrays.array_shapes(max_dims=3, max_side=5), elements=numbers))
    array = np.asfortranarray(array) if fortran else array
    found = ArrayFile(saved(tmp_path, form, array)).real("values")
    assert found.shape == array.shape
    np.testing.assert_array_equal(found[:], array.astype(np.float32))
    assert found[:].dtype == np.float32 and found[:].flags.c_contiguous
    row = data.draw(st.integers(0, len(array) - 1))
    np.testing.assert_array_equal(found[row], array.astype(np.float32)[row])
    np.testing.assert_array_equal(found[row:], array.astype(np.float32)[row:])


def test_bfloat16_of_safetensors_is_read(tmp_path: Path) -> None:
    values = torch.randn(3, 4).to(torch.bfloat16)
    save_tensors({"a": values, "b": values[:1].clone()}, tmp_path / "x")
    file = ArrayFile(tmp_path / "x")
    assert sorted(file.names) == ["a", "b"]
    np.testing.assert_array_equal(file.real("a")[1:], values[1:].float().numpy())


@given(st.data(), st.sampled_from(FORMATS), st.sampled_from([np.nan, np.inf, -np.inf, 1e300]))
def test_a_number_that_is_not_finite_is_refused_with_its_place(
    tmp_path: Path, data: st.DataObject, form: str, number: float
) -> None:
    array = np.zeros((4, 3, 2))
    place = tuple(data.draw(st.integers(0, size - 1)) for size in array.shape)
    array[place] = number
    found = ArrayFile(saved(tmp_path, form, array)).real("values")
    expected = rf"values\.\w+.* at \[{place[0]}, {place[1]}, {place[2]}\], but every number should be finite"
    for key in (slice(None), slice(place[0], None), place[0], (place[0], slice(place[1], None))):
        with pytest.raises(DataError, match=expected):
            found[key]
    for row in {0, 1, 2, 3} - {place[0]}:
        assert not found[row].any()


def test_vectors_of_another_width_are_refused_by_name(tmp_path: Path) -> None:
    array = ArrayFile(saved(tmp_path, "npz", np.ones((2, 3)))).real("values")
    array.demand_width(3, "a.jpg")
    with pytest.raises(DataError, match=r"values\.\w+.* has vectors of 3 numbers, but a\.jpg has 4"):
        array.demand_width(4, "a.jpg")


class Trap:
    """Makes a file when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("trapped",)


@pytest.mark.parametrize("form", ["npy", "npz", "compressed npz"])
def test_objects_are_refused_with_a_line_that_converts_them(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = np.empty(2, object)
    rows[:] = [np.ones((2, 3)), np.zeros((1, 3))]
    refused = message(saved(tmp_path, form, rows))
    assert "Only if you saved it yourself" in refused
    exec(refused.partition("in Python:  ")[2])
    assert [one.tolist() for one in Sequences(ArrayFile(tmp_path / "new.npz"))] == [[[1.0] * 3] * 2, [[0.0] * 3]]
    exec(message(saved(tmp_path, form, np.array({"a": np.ones(2)}, object))).partition("in Python:  ")[2])
    assert ArrayFile(tmp_path / "new.npz").real("a")[:].tolist() == [1.0, 1.0]
    message(saved(tmp_path, form, np.array([Trap()])))
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("array", [np.array(["a"]), np.ones(2, complex), np.ones(2, [("a", "f4")]), np.float32(1)])
@pytest.mark.parametrize("form", ["npy", "npz"])
def test_what_is_no_vector_of_real_numbers_is_refused(tmp_path: Path, form: str, array: Any) -> None:
    assert "should have" in message(saved(tmp_path, form, array))


def header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    content = BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": dtype, "fortran_order": False, "shape": shape})
    return content.getvalue()


@pytest.mark.parametrize(
    ("shape", "dtype"), [((1 << 40,), "<f4"), ((1 << 70, 3), "<f8"), ((-3, 2), "<f4"), ((1 << 40,), "<U0")]
)
def test_a_lying_header_takes_no_memory(tmp_path: Path, shape: tuple[int, ...], dtype: str) -> None:
    path, packed, stored = tmp_path / "a.npy", tmp_path / "b.npz", tmp_path / "c.npz"
    path.write_bytes(header(shape, dtype) + b"\0" * 100)
    for archive, how in ((packed, zipfile.ZIP_DEFLATED), (stored, zipfile.ZIP_STORED)):
        with zipfile.ZipFile(archive, "w", how) as file:
            file.write(path, "a.npy")
    with memory_below(4 * MEGABYTE):
        assert all("damaged or incomplete" in message(one, "a") for one in (path, packed, stored))


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats_arrays, "_UNPACKED", MEGABYTE)
    path, size = tmp_path / "a.npz", 8 * MEGABYTE
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.npy", header((size,), "|u1") + bytes(size))
    with memory_below(4 * MEGABYTE):
        assert "save it with numpy.savez, uncompressed" in message(path, "a")


@settings(max_examples=120)
@given(st.data(), st.sampled_from(FORMATS))
def test_damage_gives_the_array_or_one_error(tmp_path: Path, data: st.DataObject, form: str) -> None:
    path = saved(tmp_path, form, np.arange(6.0).reshape(2, 3))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of headers that Python 2 wrote
            file = ArrayFile(path)
            for name in file.names:
                file.real(name)[:]
    except DataError as error:
        assert "values." in str(error)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "should be an .npy, .npz or .safetensors file"),
        (b"cat 1 2\n", "should be an .npy, .npz or .safetensors file"),
        (pickle.dumps([1]), "should be an .npy, .npz or .safetensors file"),
        (b"PK\x03\x04" + bytes(90), "is damaged"),
        (torch, "a checkpoint of PyTorch?"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: Any, expected: str) -> None:
    path = tmp_path / "a.npz"
    torch.save({"a": torch.ones(2)}, path) if content is torch else path.write_bytes(content)
    assert expected in message(path)
    with pytest.raises(DataError, match="is a folder"):
        ArrayFile(tmp_path)
    with pytest.raises(DataError, match="is no file"):
        ArrayFile(tmp_path / "missing.npy")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6), st.booleans(), st.sampled_from(FORMATS[1:]))
def test_sequences_are_read_joined_and_padded(tmp_path: Path, lengths: list[int], is_padded: bool, form: str) -> None:
    rows = [np.random.default_rng(number).normal(size=(length, 3)) for number, length in enumerate(lengths)]
    values = np.concatenate(rows)
    if is_padded:
        values = np.full((len(rows), max(lengths), 3), np.nan)
        for block, row in zip(values, rows, strict=True):
            block[: len(row)] = row
    found = Sequences(ArrayFile(saved(tmp_path, form, values, lengths=np.array(lengths))))
    assert (len(found), found.lengths, found.width) == (len(rows), lengths, 3)
    for number, row in enumerate(rows):
        np.testing.assert_array_equal(found[number], row.astype(np.float32))
    np.testing.assert_array_equal(found[-1], rows[-1].astype(np.float32))
    with pytest.raises(IndexError):
        found[len(rows)]
    if is_padded:
        values = np.nan_to_num(values)
        whole = Sequences(ArrayFile(saved(tmp_path, form, values)))  # all as long as the array
        assert whole.lengths == [max(lengths)] * len(rows)
        np.testing.assert_array_equal(whole[len(rows) - 1], values[-1].astype(np.float32))


@pytest.mark.parametrize(
    ("values", "lengths", "expected"),
    [
        (np.ones((5, 2)), [2, 2], "2 lengths with 4 steps, but values of shape"),
        (np.ones((5, 2)), [5, 0], "has the length 0 at index 1"),
        (np.ones((2, 3, 2)), [2, 4], r"has the length 4 at index 1 of 'lengths', but should have one of 1 to 3"),
        (np.ones((3, 3, 2)), [2, 3], "2 lengths with 5 steps"),
        (np.ones(5), [5], "should be vectors by step"),
        (np.ones((5, 2)), None, r"a\.npz has no array 'lengths', only values: add it"),
        (np.ones((5, 2)), [5.0], "should be a list of whole numbers"),
        (np.array([[1.0], [np.nan]]), [1, 1], r"has nan at \[1, 0\]"),
    ],
)
def test_unfit_sequences_are_refused(tmp_path: Path, values: Any, lengths: list[float] | None, expected: str) -> None:
    np.savez(tmp_path / "a.npz", values=values, **({} if lengths is None else {"lengths": np.array(lengths)}))
    with pytest.raises(DataError, match=expected):
        list(Sequences(ArrayFile(tmp_path / "a.npz")))


def test_names_are_read_as_strings(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", names=np.array(["a.jpg", "ü.jpg"]), bytes=np.array([b"a", b"\xc3\xbc"]), x=np.ones(2))
    file = ArrayFile(tmp_path / "a.npz")
    assert (file.strings("names"), file.strings("bytes")) == (["a.jpg", "ü.jpg"], ["a", "ü"])
    with pytest.raises(DataError, match=r"array 'x', should be a list of strings"):
        file.strings("x")
    for number in 0x110000, 0x200061, 0xD800:  # no characters
        np.save(tmp_path / "names.npy", np.array([number, 97], np.uint32).view("<U2"))
        with pytest.raises(DataError, match="a string that is no text"):
            ArrayFile(tmp_path / "names.npy").strings("names")


def test_a_header_that_is_no_python_is_refused_without_a_warning(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones(3, np.float32))
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content.replace(b"      \n", b"\n\n  \n\n", 1))
    with pytest.raises(DataError, match=r"no header of an \.npy file|is damaged"):
        ArrayFile(tmp_path / "a.npy")
