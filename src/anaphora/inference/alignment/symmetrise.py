"""The links of two directions made into one set (Och and Ney 2003, section 5; Koehn, Och and Marcu 2003)."""

from collections.abc import Set
from typing import Literal

Symmetrise = Literal["grow-diag-final-and", "intersection", "union", "source-to-target", "target-to-source"]
"""Rule of the union: links of both directions and those that grow from them; of both; of either; of one."""

Link = tuple[int, int]

_AROUND = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(to_target: Set[Link], to_source: Set[Link], how: Symmetrise) -> frozenset[Link]:
    """Return one set of links (source, target) of the two sets that the directions found."""
    match how:
        case "intersection":
            return frozenset(to_target & to_source)
        case "union":
            return frozenset(to_target | to_source)
        case "source-to-target":
            return frozenset(to_target)
        case "target-to-source":
            return frozenset(to_source)
        case "grow-diag-final-and":
            return _grown(to_target, to_source)


def _grown(to_target: Set[Link], to_source: Set[Link]) -> frozenset[Link]:
    """Return the intersection; then what lies beside it and links a free word; then what links two free words."""
    either, links = to_target | to_source, set(to_target & to_source)
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    waiting = sorted(links)
    while waiting:  # grow-diag
        found: list[Link] = []
        for i, j in waiting:
            for down, right in _AROUND:
                link = (i + down, j + right)
                if link in either and link not in links and (link[0] not in sources or link[1] not in targets):
                    links.add(link)
                    sources.add(link[0])
                    targets.add(link[1])
                    found.append(link)
        waiting = sorted(found)
    for direction in (to_target, to_source):  # final-and
        for i, j in sorted(direction - links):
            if i not in sources and j not in targets:
                links.add((i, j))
                sources.add(i)
                targets.add(j)
    return frozenset(links)
