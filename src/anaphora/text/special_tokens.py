"""Special tokens that a corpus was written with: they mark sentences for another program, and are no text."""

import re

_BEGIN = frozenset(("<s>", "<bos>", "<sos>", "[bos]", "[cls]", "<|startoftext|>"))
_END = frozenset(("</s>", "<eos>", "[eos]", "[sep]", "<|endoftext|>"))
_PAD = frozenset(("<pad>", "[pad]"))
_WORD = re.compile(r"\S+")


def without_special_tokens(line: str) -> str:
    """A line without the special tokens at its ends, such as ``<s>`` and ``</s>``, and the white space beside them.

    They stand between white space; a line without any is returned as it is.
    """
    if line.lstrip()[:1] not in ("<", "[") and line.rstrip()[-1:] not in (">", "]"):
        return line
    words = list(_WORD.finditer(line))
    begin, end = 0, len(words)
    while begin < end and words[begin][0].lower() in _BEGIN | _PAD:
        begin += 1
    while begin < end and words[end - 1][0].lower() in _END | _PAD:
        end -= 1
    if begin == end and words:
        return ""
    start = words[begin].start() if begin else 0
    return line[start : words[end - 1].end() if end < len(words) else len(line)]
