"""Subtitles (SRT, WebVTT): cues with a line of times, their text below, and a blank line after each.

The lines of a cue are one text, set in as many lines again, but a line that begins with a dash is another speaker's.
Of SRT, lines behind a blank line that are no next cue are a text of the cue too, as players show them. Text of WebVTT
has character references, as in HTML; its notes, styles and regions stay as they are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape, unescape

from anaphora.formats.entries.entry import Edit, Entry, Gap, Put, Reader, Run, one_line
from anaphora.formats.lines import raw_lines

_TIME = rb"(?:\d+:)?\d\d:\d\d[,.]\d+"
_TIMES = re.compile(rb"\s*%b\s*-->\s*%b.*" % (_TIME, _TIME), re.DOTALL)
_NUMBER = re.compile(rb"(?:\A|(?<=\n))[^\w\n]*\d+\s*\Z")
_CODE = re.compile(rb"</?[A-Za-z][^<>\n]*>|</?>|<%b>|\{\\[^{}\n]*\}" % _TIME)
_SPEAKER = re.compile(r"\r?\n(?=[ \t]*[-\u2013\u2014])")


class Subtitles(Reader):
    """The cues of one file."""

    _escaped = False
    """True if its text has character references."""

    def read(self, pieces: Iterable[bytes]) -> Iterator[Entry]:
        """Yield the cues of a file in UTF-8; lines outside of cues stay as they are."""
        cue, begin, first, inside = bytearray(), 0, 0, False
        for number, (at, line) in enumerate(raw_lines(pieces, self.name), 1):
            self._escaped = self._escaped or (number == 1 and line.startswith(b"WEBVTT"))
            times = bool(_TIMES.fullmatch(line))
            if inside and line.strip() and not times:
                begin, first = (begin, first) if cue else (at, number)
                cue += line
                continue
            if times:  # behind a number
                cue = bytearray(_NUMBER.sub(b"", bytes(cue)))
            yield from self._cue(bytes(cue), begin, first)
            cue.clear()
            inside = times or (inside and not self._escaped)
        yield from self._cue(bytes(cue), begin, first)

    def _cue(self, content: bytes, begin: int, line: int) -> Iterator[Entry]:
        content = content.rstrip()
        runs, end = list[Run](), 0
        for code in [*_CODE.finditer(content), None]:
            place = code.start() if code else len(content)
            runs += self._runs(content[end:place], begin + end, runs[-1].flow if runs else 0)
            end = code.end() if code else place
        source = "".join(run.text for run in runs)
        if source.strip() and not source.strip().isdigit():  # the number of a cue without times
            yield Entry.untranslated(line, source, Gap(tuple(runs), self._fill))

    def _runs(self, content: bytes, begin: int, speaker: int) -> Iterator[Run]:
        """Yield the texts of a stretch without codes in which ``speaker`` goes on, a flow for each speaker."""
        text, start = content.decode(), 0
        for flow, found in enumerate([*_SPEAKER.finditer(text), None], speaker):
            end = found.start() if found else len(text)
            if end > start:
                piece = text[start:end]
                place = begin + len(text[:start].encode())
                read = unescape(piece) if self._escaped else piece
                yield Run(place, place + len(piece.encode()), read, flow)
            start = found.end() if found else end

    def _fill(self, content: bytes, put: Put, _: Mapping[Run, int]) -> list[Edit]:
        edits = []
        for run, text in put.items():
            assert isinstance(run, Run) and isinstance(text, str), "its codes are single and stay in their order"
            end = "\r\n" if "\r\n" in run.text else "\n"
            lines = wrap(one_line(text), run.text.strip().count("\n") + 1)
            # a line that ends beside a code does so again
            spaces = zip(_spaces(run.text), _spaces(text), strict=True)
            before, behind = (own if "\n" in own else its for own, its in spaces)
            filled = f"{before}{end.join(lines)}{behind}"
            edits.append(Edit(run.begin, run.end, (escape(filled, quote=False) if self._escaped else filled).encode()))
        return edits


def _spaces(text: str) -> tuple[str, str]:
    """Return the white space at both ends of a text; of one that has nothing else, all of it is in front."""
    begin = len(text) - len(text.lstrip())
    return text[:begin], text[max(begin, len(text.rstrip())) :]


def wrap(text: str, count: int) -> list[str]:
    """Return a text in at most ``count`` lines of about the same length, broken at spaces, not before a dash."""
    lines = []
    rest = text
    while count > 1 and " " in rest.strip():
        wanted = len(rest) / count
        spaces = [found.start() for found in re.finditer(r"(?<=\S) (?=[^\s\-\u2013\u2014])", rest)]
        if not spaces:
            break
        at = min(spaces, key=lambda space: abs(space - wanted))
        lines.append(rest[:at])
        rest, count = rest[at + 1 :], count - 1
    return [*lines, rest]
