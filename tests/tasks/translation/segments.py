"""Generated segments with placeholders, addresses and tags, each of which occurs once."""

import random
from typing import NamedTuple

from ..conftest import WORDS

PLACEHOLDERS = (
    *("{{name{n}}}", "%({n})d", "%{n}$s", "[X{n}X]"),
    *("${{v{n}}}", "{{{{ user.n{n} }}}}", "{{{n}}}px", "%{n}d:%s{n}"),
)
ADDRESSES = ("https://example.org/{n}?a=b", "ftp://example{n}.org", "user{n}@example.org")
TAGS = ("b", "i", "a", "g", "x:ph")
SINGLE = ("<br id={n}>", "<br id='{n}'/>", '<img src="{n}" alt=" >"/>')
SIGNS = ("", "", "", ",", ".", "!", ":")


class Segment(NamedTuple):
    """A line, and what must come back."""

    text: str
    kept: tuple[str, ...]


def segment(draw: random.Random, most: int = 12) -> Segment:
    """A line of at most so many words and things that are kept, which may be glued to each other, but for addresses."""
    parts, kept, opened = list[str](), list[str](), list[tuple[str, int]]()
    for _ in range(draw.randint(1, most)):
        number = len(kept) * 10 + draw.randint(1, 9)
        kind = draw.random()
        if kind < 0.5:
            parts.append(draw.choice(WORDS) + draw.choice(SIGNS))
        elif kind < 0.64:
            parts.append(_kept(kept, draw.choice(PLACEHOLDERS).format(n=number)) + draw.choice(SIGNS[3:]))
        elif kind < 0.7:
            parts.append(f" {_kept(kept, draw.choice(ADDRESSES).format(n=number))} ")
        elif kind < 0.8:
            parts.append(_kept(kept, draw.choice(SINGLE).format(n=number)))
        elif kind < 0.9 or not opened:
            name = draw.choice(TAGS)
            opened.append((name, number))
            parts.append(_kept(kept, f'<{name} id="{number}">'))
        else:
            name, _ = opened.pop()
            parts.append(f"</{name}>")
        parts.append(draw.choice(("", " ", " ", " ", "  ")))
    parts += [f"</{name}>" for name, _ in reversed(opened)]
    return Segment("".join(parts), tuple(kept))


def _kept(kept: list[str], text: str) -> str:
    kept.append(text)
    return text


def segments(count: int, seed: int) -> list[Segment]:
    """So many of them."""
    draw = random.Random(seed)
    return [segment(draw) for _ in range(count)]
