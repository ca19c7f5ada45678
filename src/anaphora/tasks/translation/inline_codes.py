"""Inline codes of a sentence as tags for a translator, and where they may stand in the translation."""

import re
from collections.abc import Iterator, Sequence

from anaphora.formats.entries.entry import Code, Put, Run

CODE = re.compile(r"(</?x\d+/?>)")
"""A tag that stands for a code."""


class InlineCodes:
    """The codes of a sentence: well nested pairs, and single ones."""

    def __init__(self, pieces: Sequence[Run | Code]) -> None:
        self._codes = [piece for piece in pieces if isinstance(piece, Code)]
        self.places = list(_places(pieces))
        """Places of texts, one before each code and one behind the last, which may be empty."""
        self.order = list(range(len(self._codes)))
        """Numbers of the codes as the source has them."""
        self._partners = _partners(self._codes)
        self._tags = [self._tag(code) for code in self.order]

    def with_tags(self, texts: Sequence[str]) -> str:
        """Return texts in the places as one, with the tags between them."""
        return "".join(f"{text}{tag}" for text, tag in zip(texts, self._tags, strict=False)) + texts[-1]

    def split(self, translation: str) -> tuple[list[str], list[int]]:
        """Return the texts between the tags, and the codes that these are; -1 for a tag that is none."""
        texts, numbers = CODE.split(translation), {tag: number for number, tag in enumerate(self._tags)}
        return texts[::2], [numbers.get(tag, -1) for tag in texts[1::2]]

    def may_stand(self, texts: Sequence[str], order: Sequence[int]) -> bool:
        """True if all codes are there once: pairs well nested and around text as in the source, others in order."""
        if sorted(order) != self.order:
            return False
        full, old = [bool(text.strip()) for text in texts], [bool(place.text.strip()) for place in self.places]
        if not self._partners:
            return [*order] == self.order and full == old
        partners = _partners([self._codes[code] for code in order])
        if {order[one]: order[other] for one, other in partners.items()} != self._partners:
            return False
        are_alike = all(
            any(full[one + 1 : other + 1]) == any(old[order[one] + 1 : order[other] + 1])
            for one, other in partners.items()
        )
        singles = [code for code in order if code not in self._partners]
        may_move = [*order] == self.order or not any(code.fixed for code in self._codes)
        return are_alike and singles == sorted(singles) and may_move

    def put(self, texts: Sequence[str], order: Sequence[int] = ()) -> Put:
        """Return what is put where: texts in the places, and codes in another order."""
        put: dict[Run | Code, str | Code] = dict(zip(self.places, texts, strict=True))
        return put | {self._codes[at]: self._codes[code] for at, code in enumerate(order) if at != code}

    def _tag(self, code: int) -> str:
        partner = self._partners.get(code, code)
        return f"<{'/' * (partner < code)}x{min(code, partner) + 1}{'/' * (partner == code)}>"


def _places(pieces: Sequence[Run | Code]) -> Iterator[Run]:
    """Yield the texts of a flow before each of its codes and behind the last, with empty ones where there are none."""
    text, end = None, pieces[0].begin
    for piece in pieces:
        if isinstance(piece, Run):
            text = piece
        else:
            yield text or Run(end, end, "", piece.flow)
            text = None
        end = piece.end
    yield text or Run(end, end, "", pieces[-1].flow)


def _partners(codes: Sequence[Code]) -> dict[int, int]:
    """Return the codes that open and close each other, well nested, both ways."""
    partners, opened = dict[int, int](), list[int]()
    for place, code in enumerate(codes):
        if code.pair and code.opens:
            opened.append(place)
        elif code.pair in (names := [codes[one].pair for one in opened] if code.pair else []):
            at = len(names) - 1 - names[::-1].index(code.pair)
            partners |= {place: opened[at], opened[at]: place}
            del opened[at:]
    return partners
