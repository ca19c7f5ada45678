"""Files in the encoding that they declare, as UTF-8 and back, byte for byte."""

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from anaphora.errors import DataError

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WITHOUT_BOM = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_READ = re.compile(
    r"ascii|utf-8|utf-16(-[bl]e)?|iso8859-\d+|cp(12|8)\d\d|koi8-[rtu]|mac-\w+|shift_jis|euc_(jp|kr)|gb2312|gbk|gb18030"
    r"|big5|tis-620"
)
"""Names of encodings of text, as Python calls them, for which ASCII is ASCII."""
_XML = rb"""<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)"""
_DECLARED = {
    "tmx": re.compile(_XML),
    "xliff": re.compile(_XML),
    "html": re.compile(rb"(?s:" + _XML + rb"|.*?<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+))", re.IGNORECASE),
    "po": re.compile(rb"(?s:.*?Content-Type:[^\n]*?\bcharset=\s*([\w.:-]+))", re.IGNORECASE),
}
"""Declarations of the encoding by kind of file."""
_WINDOWS = {byte: one for byte in range(0x80, 0xA0) if (one := bytes([byte]).decode("cp1252", "ignore"))}
"""Characters that browsers read in pages in ISO-8859-1 where that has controls (WHATWG Encoding)."""
PEEKED = 1 << 15
"""Bytes in which they do."""


class Encoding:
    """Encoding of a file: a byte order mark or none, and the name of a codec."""

    def __init__(self, start: bytes, name: str, kind: str) -> None:
        """Of a file ``name`` of a ``kind`` that begins with the bytes ``start``, ``PEEKED`` of them or all.

        By its mark, or as such files declare it, else UTF-8; DataError for an encoding that is not read.
        """
        self._file = name
        self.mark, self.codec = next(((mark, codec) for mark, codec in _BOMS if start.startswith(mark)), (b"", ""))
        self.codec = self.codec or next((codec for begin, codec in _WITHOUT_BOM if start.startswith(begin)), "")
        if not self.codec:
            declared = _DECLARED[kind].match(start[:PEEKED]) if kind in _DECLARED else None
            code = next(filter(None, declared.groups()), b"") if declared else b"utf-8"
            self.codec = _python_name(code.decode("ascii", "replace"), name)
        self._declares = kind in _DECLARED
        self._controls = _WINDOWS if kind == "html" and self.codec == "iso8859-1" else {}

    def decode(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces in UTF-8, without the mark; DataError, with the line, for bytes that are no text."""
        decoder = codecs.getincrementaldecoder(self.codec)()
        lines, read, mark = 1, 0, len(self.mark)
        for piece in chain(pieces, (b"",)):
            piece, mark = piece[mark:], max(0, mark - len(piece))
            try:
                text = decoder.decode(piece, final=not piece and read > 0)
            except UnicodeDecodeError as error:
                line = lines + error.object[: error.start].count(b"\n")
                correct = "correct the encoding that it declares, or " if self._declares else ""
                raise DataError(
                    f"{self._file}:{line} should be {self.codec}, but has the byte 0x{error.object[error.start]:02X} "
                    f"({error.reason}): {correct}convert it to UTF-8, with  "
                    f"iconv -f ISO-8859-1 -t UTF-8  for Western European text."
                ) from None
            text = text.translate(self._controls) if self._controls else text
            if "\0" in text:
                line = lines + text.count("\n", 0, text.index("\0"))
                raise DataError(f"{self._file}:{line} has a NUL: remove it, or declare the encoding of the file.")
            read += len(piece)
            lines += text.count("\n")
            yield text.encode()

    def encode(self, content: bytes, errors: str = "strict") -> bytes:
        """UTF-8 as the file writes it; ``errors`` as for ``str.encode``.

        Raises DataError for a character that its encoding lacks, where that is strict.
        """
        if self.codec == "utf-8":
            return self.mark + content
        controls = {ord(one): byte for byte, one in self._controls.items()}
        try:
            return self.mark + content.decode().translate(controls).encode(self.codec, errors)
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self._file} is {self.codec}, which lacks {error.object[error.start]!r}: convert it to UTF-8."
            ) from None

    def lacks(self, text: str) -> bool:
        """True if the encoding has no bytes for a character of ``text``."""
        try:
            text.encode(self.codec)
        except UnicodeEncodeError:
            return True
        return False


def _python_name(declared: str, name: str) -> str:
    if declared.upper() == "CHARSET":  # a gettext template before it is filled in
        return "utf-8"
    try:
        codec = codecs.lookup(declared).name
    except LookupError:
        codec = ""
    if codec.startswith("utf-16"):  # whose marks would have shown
        codec = "utf-8"
    if not _READ.fullmatch(codec):
        raise DataError(f"{name} declares the encoding '{declared}', which is not read: convert it to UTF-8.")
    return codec
