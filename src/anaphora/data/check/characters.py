"""Faults that a line shows by itself: characters that should not be there, and text that was treated before."""

import re
import unicodedata
from collections.abc import Iterator

_RARE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u200b\u2028\u2029\u2060\ufeff\ufffd]")
_KINDS = {"\x85": "separator", "\u2028": "separator", "\u2029": "separator", "\ufeff": "mark", "\ufffd": "replacement"}
_INVISIBLE = "\u00ad\u200b\u2060"

# what the bytes 0x80 to 0xBF read as in Latin-1 and in Windows-1252
_TRAIL = "\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_MISREAD = re.compile(f"[\xc2-\xdf][{_TRAIL}]|[\xe0-\xef][{_TRAIL}]{{2}}|[\xf0-\xf4][{_TRAIL}]{{3}}")
_TELLING = re.compile(f"[\xc2\xc3][{_TRAIL}]|[\xe0-\xef][{_TRAIL}]{{2}}|[\xf0-\xf4][{_TRAIL}]{{3}}")
_WINDOWS = {
    byte: bytes([byte]).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_BYTES = str.maketrans({shown: chr(byte) for byte, shown in _WINDOWS.items()})

_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9A-Fa-f]{1,5});")
_SUBWORD = re.compile(r"\S@@(?: |$)|\u2581")
_TOKENISED = re.compile(r"\w (?:,|\.(?:$| ))")


def faults(text: str) -> Iterator[tuple[str, str]]:
    """The kinds of fault that a line has, each once, and what shows it."""
    if _RARE.search(text):
        yield from _rare(text)
    if not text.isascii():
        if not unicodedata.is_normalized("NFC", text):
            yield "decomposed", ""
        if misread := _misread(text):
            yield "mojibake", misread
    if match := _ENTITY.search(text):
        yield "entities", match[0]
    if match := _SUBWORD.search(text):
        yield "subwords", match[0]
    if "<unk>" in text:
        yield "unknown-mark", ""
    if _TOKENISED.search(text):
        yield "tokenised", ""


def _rare(text: str) -> Iterator[tuple[str, str]]:
    told = set()
    for character in _RARE.findall(text):
        kind = "invisible" if character in _INVISIBLE else _KINDS.get(character, "control")
        if kind not in told:
            told.add(kind)
            yield kind, f"U+{ord(character):04X}"


def _misread(text: str) -> str:
    """A sequence of characters that reads better when its bytes are taken as UTF-8, or nothing.

    One pair of accented capital and sign may be meant (a capital É before a closing quotation mark); a pair that
    begins with Â or Ã, a sequence of three, or two pairs hardly are.
    """
    found = [match[0] for match in _MISREAD.finditer(text) if _is_utf8(match[0])]
    telling = next((sequence for sequence in found if _TELLING.fullmatch(sequence)), "")
    return telling or ("".join(found[:2]) if len(found) > 1 else "")


def _is_utf8(sequence: str) -> bool:
    try:
        sequence.translate(_BYTES).encode("latin-1").decode()
    except UnicodeError:
        return False
    return True
