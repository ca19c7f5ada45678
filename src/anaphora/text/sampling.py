"""An even sample of a stream in constant memory."""

import random
from collections.abc import Iterable
from typing import TypeVar

Line = TypeVar("Line")


def sample(lines: Iterable[Line], limit: int) -> tuple[list[Line], int]:
    """At most ``limit`` lines, each with the same chance, and how many there were (Vitter 1985, algorithm R).

    The same lines give the same sample.
    """
    draw = random.Random(0)
    kept: list[Line] = []
    seen = 0
    for line in lines:
        seen += 1
        if len(kept) < limit:
            kept.append(line)
        elif (place := draw.randrange(seen)) < limit:
            kept[place] = line
    return kept, seen
