"""Real-valued arrays from ``.npy``, ``.npz`` and ``.safetensors`` files; nothing in them is ever executed.

A file is known by its first bytes, whatever its name. It is mapped into memory, and numbers are read, checked and
converted as they are asked for; a compressed array is unpacked whole when it is read. No more memory is taken than the
file has bytes for: sizes in a header are compared with the file before anything is allocated, and a compressed array
that grows far beyond its size in the file is refused.
"""

import json
import math
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from anaphora.errors import DataError, refuse_os_errors

Floats = np.ndarray[Any, np.dtype[np.float32]]
Raw = np.ndarray[Any, np.dtype[Any]]

_NPY, _ZIP = np.lib.format.MAGIC_PREFIX, b"PK"
_LONGEST_HEADER = 1 << 14
"""Bytes of the header of an ``.npy`` file, at most."""
_UNPACKED, _RATIO = 1 << 28, 100
"""A compressed array is refused where it has more bytes than this and is packed more tightly than this."""
_SAFETENSORS = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)},
    **{f"{kind}{bits}": f"<{kind.lower()}{bits // 8}" for kind in "IU" for bits in (8, 16, 32, 64)},
    "BOOL": "|b1",
}
_BFLOAT16 = "BF16"
_NOT_READ = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError)
"""Errors of numpy for a header that is none."""


class _Layout(NamedTuple):
    """Place of an array in its file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Any
    """"C" or "F"."""
    offset: int
    """Byte where its numbers begin; within its own bytes where it is compressed."""
    is_bfloat16: bool = False
    """True if its numbers are the upper halves of float32."""


class RealArray:
    """An array of finite real numbers, read as float32: all of it or some of its rows."""

    def __init__(self, where: str, shape: tuple[int, ...], load: Callable[[], Raw], is_bfloat16: bool = False) -> None:
        """``where`` is what errors call it; ``load`` gives the numbers as they are stored."""
        self.where, self.shape, self._load, self._is_bfloat16 = where, shape, load, is_bfloat16

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: int | slice | tuple[int, slice]) -> Floats:
        """Return a row, a stretch of rows, or a stretch within a row: a copy, in C order.

        Raises DataError with its place for a number that is not finite, also where float32 makes it infinite.
        """
        stored = self._load()[key]
        if self._is_bfloat16:
            stored = (stored.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.array(stored, dtype=np.float32, order="C")
        if not np.isfinite(found).all():
            place = [int(one) for one in np.argwhere(~np.isfinite(found))[0]]
            number = float(found[tuple(place)])
            raise DataError(
                f"{self.where} has {number:g} at {_place(key, place, self.shape)}, but every number should be finite "
                f"(in float32): correct it."
            )
        return found

    def demand_width(self, width: int, expected_by: str) -> None:
        """DataError where a vector (the last axis) has not ``width`` numbers, as ``expected_by`` says it should."""
        if self.shape[-1] != width:
            raise DataError(
                f"{self.where} has vectors of {self.shape[-1]:,} numbers, but {expected_by} has {width:,}: give all of "
                f"them the same width."
            )


class ArrayFile:
    """The arrays of a file by name; that of an ``.npy`` file has the name of the file without its ending."""

    def __init__(self, path: Path) -> None:
        """DataError for a file that is not there, is not an array file, or is damaged, as far as its index shows."""
        self.path = path
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no file"
            raise DataError(f"An array file was expected, but {path} is {what}: check the path.")
        with refuse_os_errors(f"The file {path} cannot be read: "):
            with path.open("rb") as file:
                begin = file.read(len(_NPY))
            self._bytes: Raw = np.memmap(path, np.uint8, "r") if begin else np.empty(0, np.uint8)
        self._zip: zipfile.ZipFile | None = None
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._layouts: dict[str, _Layout] = {}
        self._unpacked: tuple[str, Raw] | None = None
        if begin == _NPY:
            header = BytesIO(self._bytes[:_LONGEST_HEADER].tobytes())
            self._layouts[path.stem] = self._layout(header, len(self._bytes), 0, str(path))
        elif begin.startswith(_ZIP):
            self._open_zip()
        else:
            self._open_safetensors()
        if not self.names:
            raise DataError(f"{path} has no arrays: save some in it.")

    @property
    def names(self) -> list[str]:
        """Names of all arrays, in the order of the file."""
        return list(self._members or self._layouts)

    def real(self, name: str) -> RealArray:
        """Return the real numbers of that name, of one or more axes.

        DataError for an array of something else, or none.
        """
        layout, where = self._find(name), self._where(name)
        if not (layout.dtype.kind in "iub" or (layout.dtype.kind == "f" and layout.dtype.itemsize <= 8)):
            raise DataError(f"{where} should have real numbers, but has {layout.dtype}: convert it to float32.")
        if not layout.shape or 0 in layout.shape:
            raise DataError(f"{where} should have vectors, but its shape is {layout.shape}: correct or remove it.")
        return RealArray(where, layout.shape, partial(self._raw, name), layout.is_bfloat16)

    def integers(self, name: str) -> list[int]:
        """Return the whole numbers of that name, of one axis; DataError for anything else."""
        self._demand_list(name, "iu", "whole numbers", "correct it")
        return [int(one) for one in self._raw(name)]

    def strings(self, name: str) -> list[str]:
        """Return the strings of that name, of one axis (numpy's ``str`` or UTF-8 ``bytes``).

        DataError for anything else.
        """
        self._demand_list(name, "US", "strings", "save np.array(names) in its place")
        try:
            found = self._raw(name).tolist()
            return [one.decode() if isinstance(one, bytes) else one.encode().decode() for one in found]
        except (ValueError, SystemError) as error:  # the latter of Python for a number that is no character
            raise DataError(f"{self._where(name)} has a string that is no text ({error}): correct it.") from None

    def _demand_list(self, name: str, kinds: str, of: str, remedy: str) -> None:
        """Raise DataError for an array that has more than one axis, or numbers of none of these ``kinds``."""
        dtype, shape, *_ = self._find(name)
        if dtype.kind not in kinds or len(shape) != 1:
            raise DataError(f"{self._where(name)} should be a list of {of}, but is {dtype} of shape {shape}: {remedy}.")

    def _where(self, name: str) -> str:
        return f"{self.path}, array '{name}'," if self._members or len(self._layouts) > 1 else str(self.path)

    def _open_zip(self) -> None:
        try:
            self._zip = zipfile.ZipFile(self.path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
            raise self._damage_error(error) from None
        for info in self._zip.infolist():
            if not info.filename.endswith(".npy"):
                raise DataError(
                    f"{self.path} should be an .npz file of arrays, but has {info.filename!r} in it (a checkpoint of "
                    f"PyTorch?): save the arrays with numpy.savez."
                )
            name = info.filename.removesuffix(".npy")
            if name in self._members:
                raise DataError(f"{self.path} has two arrays '{name}': save it again.")
            self._members[name] = info

    def _open_safetensors(self) -> None:
        try:
            with safe_open(self.path, "np"):  # checks that offsets, shapes and the file's size agree
                pass
        except (SafetensorError, OSError) as error:
            raise DataError(
                f"{self.path} should be an .npy, .npz or .safetensors file, but is none that can be read ({error}): "
                f"save the arrays with numpy.savez."
            ) from None
        length = int.from_bytes(self._bytes[:8].tobytes(), "little")
        for name, entry in json.loads(self._bytes[8 : 8 + length].tobytes()).items():
            if name == "__metadata__":
                continue
            kind, half = entry["dtype"], entry["dtype"] == _BFLOAT16
            if not half and kind not in _SAFETENSORS:
                raise DataError(f"{self.path}, tensor '{name}', has numbers of type {kind}: convert it to float32.")
            dtype = np.dtype("<u2" if half else _SAFETENSORS[kind])
            begin = 8 + length + entry["data_offsets"][0]
            self._layouts[name] = _Layout(dtype, tuple(entry["shape"]), "C", begin, half)

    def _find(self, name: str) -> _Layout:
        """Return the place of an array; DataError for none, or one that is no plain numbers."""
        if name not in self._layouts:
            if name not in self._members:
                raise DataError(
                    f"{self.path} has no array '{name}', only {', '.join(self.names[:5])}: add it, or rename one."
                )
            self._layouts[name] = self._member(self._members[name], self._where(name), name)
        return self._layouts[name]

    def _member(self, info: zipfile.ZipInfo, where: str, name: str) -> _Layout:
        assert self._zip is not None
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise DataError(f"{where} is packed or encrypted in a way that is not read: save it with numpy.savez.")
        if info.file_size > max(_UNPACKED, _RATIO * info.compress_size):
            raise DataError(
                f"{where} would have {info.file_size:,} bytes, but has {info.compress_size:,} in the file: if that is "
                f"meant, save it with numpy.savez, uncompressed."
            )
        offset = 0
        if info.compress_type == zipfile.ZIP_STORED:
            widths = self._bytes[info.header_offset + 26 : info.header_offset + 30].tobytes()
            offset = info.header_offset + 30 + sum(int.from_bytes(pair, "little") for pair in (widths[:2], widths[2:]))
            if info.file_size != info.compress_size or offset + info.file_size > len(self._bytes):
                raise self._damage_error("its index does not fit its content")
        try:
            with self._zip.open(info) as stream:
                header = BytesIO(stream.read(_LONGEST_HEADER))
        except _BROKEN as error:
            raise self._damage_error(error) from None
        return self._layout(header, info.file_size, offset, where, name)

    def _layout(self, header: IO[bytes], size: int, offset: int, where: str, name: str | None = None) -> _Layout:
        """Read the header of an ``.npy``, whose ``size`` bytes begin at ``offset``."""
        try:
            version = np.lib.format.read_magic(header)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            with warnings.catch_warnings(action="ignore"):  # numpy tries a header that it cannot read as Python 2's
                shape, fortran, dtype = read(header)
        except KeyError:
            raise DataError(f"{where} has a format of .npy that is not read: save plain numbers.") from None
        except _NOT_READ as error:
            raise DataError(f"{where} has no header of an .npy file ({_line(error)}): save it again.") from None
        if dtype.hasobject:
            raise DataError(_objects(self.path, name, where, shape))
        if not dtype.itemsize or any(length < 0 for length in shape) or header.tell() + _bytes_of(shape, dtype) != size:
            raise DataError(
                f"{where} should have {_bytes_of(shape, dtype):,} bytes of numbers (shape {shape}, {dtype}), but has "
                f"{size - header.tell():,}: it is damaged or incomplete; save or fetch it again."
            )
        return _Layout(dtype, shape, "F" if fortran else "C", offset + header.tell())

    def _raw(self, name: str) -> Raw:
        """Return the numbers as they are stored: a view of the file, or unpacked."""
        layout, info = self._find(name), self._members.get(name)
        buffer = self._bytes
        if info is not None and info.compress_type != zipfile.ZIP_STORED:
            if self._unpacked is None or self._unpacked[0] != name:
                self._unpacked = (name, self._unpack(info))
            buffer = self._unpacked[1]
        if not _bytes_of(layout.shape, layout.dtype):
            return np.empty(layout.shape, layout.dtype)
        return np.ndarray(layout.shape, layout.dtype, buffer.data, layout.offset, order=layout.order)

    def _unpack(self, info: zipfile.ZipInfo) -> Raw:
        assert self._zip is not None
        try:
            with self._zip.open(info) as stream:
                content = stream.read()  # at most the size in the index, which is bounded; checks the CRC
        except _BROKEN as error:
            raise self._damage_error(error) from None
        if len(content) != info.file_size:
            raise self._damage_error("its index does not fit its content")
        return np.frombuffer(content, np.uint8)

    def _damage_error(self, error: object) -> DataError:
        return DataError(f"The archive {self.path} is damaged ({_line(error)}): save or fetch it again.")


class Sequences:
    """Sequences of vectors in one file: ``values`` and ``lengths``.

    Either the vectors of all sequences one after another (sum of lengths x width), or padded (sequences x longest x
    width); padding may hold anything. Padded ones without ``lengths`` are all of the same length.
    """

    def __init__(self, file: ArrayFile, *, single: bool = False) -> None:
        """With ``single``, each of the vectors is a sequence where there are no lengths.

        Raises DataError where an array is missing or the two do not fit together.
        """
        self._values = file.real("values")
        shape, where = self._values.shape, self._values.where
        is_whole = "lengths" not in file.names and (len(shape) == 3 or (single and len(shape) == 2))
        self.lengths = [math.prod(shape[1:-1])] * shape[0] if is_whole else file.integers("lengths")
        if len(shape) not in (2, 3):
            raise DataError(
                f"{where} should be vectors by step (steps x width, or sequences x steps x width), but its shape is "
                f"{shape}: reshape it."
            )
        self.width, is_padded = shape[-1], len(shape) == 3
        longest = shape[1] if is_padded else shape[0]
        for number, length in enumerate(self.lengths):
            if not 1 <= length <= longest:
                raise DataError(
                    f"{file.path} has the length {length} at index {number} of 'lengths', but should have one of 1 to "
                    f"{longest:,}: correct it."
                )
        if shape[0] != (len(self.lengths) if is_padded else sum(self.lengths)):
            raise DataError(
                f"{file.path} has {len(self.lengths):,} lengths with {sum(self.lengths):,} steps, but values of shape "
                f"{shape}: save both from the same sequences."
            )
        self._begins = np.concatenate([[0], np.cumsum(self.lengths)]).tolist()

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, number: int) -> Floats:
        """Steps x width of a sequence; DataError for a number in it that is not finite."""
        number = range(len(self))[number]
        if len(self._values.shape) == 3:
            return self._values[number, : self.lengths[number]]
        return self._values[self._begins[number] : self._begins[number + 1]]


_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError)
"""Errors of a damaged zip archive."""


def _bytes_of(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    return dtype.itemsize * math.prod(map(int, shape))


def _line(error: object) -> str:
    return str(error).split("\n")[0].rstrip(".")


def _place(key: int | slice | tuple[int, slice], place: list[int], shape: tuple[int, ...]) -> str:
    """Return the index of a number in the whole array, from its index in what ``key`` took."""
    whole: list[int] = []
    for axis, one in enumerate(key if isinstance(key, tuple) else (key,)):
        steps = range(shape[axis])
        whole.append(steps[one] if isinstance(one, int) else steps[one][place.pop(0)])
    return f"[{', '.join(map(str, whole + place))}]"


def _objects(path: Path, name: str | None, where: str, shape: tuple[int, ...]) -> str:
    """Why pickled objects are refused, with the line that converts what one trusts."""
    taken = f"np.load({str(path)!r}, allow_pickle=True)" + (f"[{name!r}]" if name is not None else "")
    convert = (
        f"np.savez('new.npz', **{taken}.item())"
        if not shape
        else f"a = {taken}; np.savez('new.npz', values=np.concatenate(list(a)), lengths=[len(row) for row in a])"
    )
    return (
        f"{where} has Python objects, which are not loaded: loading them runs any code that somebody hid in the file. "
        f"Ask whoever made it for plain numbers. Only if you saved it yourself, convert it, in Python:  "
        f"import numpy as np; {convert}"
    )
