"""Translation memories written: TMX 1.4b, an entry a line."""

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from anaphora.version import VERSION

_NO_XML = {place: " " for place in range(32) if chr(place) not in "\t\n\r"} | {0xFFFE: " ", 0xFFFF: " "}
"""Characters that XML cannot have, not even escaped."""


def tmx_lines(pairs: Iterable[tuple[str, str]], languages: tuple[str, str]) -> Iterator[str]:
    """The lines of a translation memory of pairs of texts in two languages; line ends inside of texts are escaped."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    source, target = map(quoteattr, languages)
    yield (
        f'<tmx version="1.4"><header creationtool="anaphora" creationtoolversion="{VERSION}" segtype="sentence" '
        f'o-tmf="anaphora" adminlang="en" srclang={source} datatype="plaintext"/><body>'
    )
    for one, other in pairs:
        texts = (
            f"<tuv xml:lang={language}><seg>{escaped(text)}</seg></tuv>"
            for language, text in ((source, one), (target, other))
        )
        yield f"<tu>{''.join(texts)}</tu>"
    yield "</body></tmx>"


def escaped(text: str) -> str:
    """A text as XML has it, on one line."""
    return escape(text.translate(_NO_XML), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
