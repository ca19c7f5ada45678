"""Special tokens that a corpus was written with: they mark sentences for another program, and are no text."""

import re

_BEGIN = frozenset(("<s>", "<bos>", "<sos>", "[bos]", "[cls]"))
_END = frozenset(("</s>", "<eos>", "[eos]", "[sep]"))
_EITHER = frozenset(("<pad>", "[pad]", "<|startoftext|>", "<|endoftext|>"))
_GLUED = r"<\|(?:startof|endof)text\|>"
_WORD = re.compile(rf"{_GLUED}|(?:(?!{_GLUED})\S)++", re.IGNORECASE)


def without_special_tokens(line: str) -> str:
    """A line without the special tokens at its ends, such as ``<s>`` and ``</s>``, and the white space beside them.

    They stand between white space, but for those like ``<|endoftext|>``, which no markup looks like; a line without
    any is returned as it is.
    """
    if line.lstrip()[:1] not in ("<", "[") and line.rstrip()[-1:] not in (">", "]"):
        return line
    words = list(_WORD.finditer(line))
    begin, end = 0, len(words)
    while begin < end and words[begin][0].lower() in _BEGIN | _EITHER:
        begin += 1
    while begin < end and words[end - 1][0].lower() in _END | _EITHER:
        end -= 1
    if begin == end and words:
        return ""
    start = words[begin].start() if begin else 0
    return line[start : words[end - 1].end() if end < len(words) else len(line)]
