"""What a disk, a copy or a hand may do to the bytes of a file."""

from dataclasses import dataclass
from random import Random

KINDS = ("cut", "flip", "zero", "insert", "repeat")


@dataclass(frozen=True)
class Damage:
    """One change, at the same place of whatever content."""

    kind: str
    """One of ``KINDS``."""
    share: float
    """Where it is, as a share of the content, below 1."""
    bit: int = 0
    junk: bytes = b"?"

    def __call__(self, content: bytes) -> bytes:
        place = int(self.share * len(content))
        before, behind = content[:place], content[place:]
        match self.kind:
            case "cut":
                return before
            case "flip" if behind:
                return before + bytes([behind[0] ^ (1 << self.bit)]) + behind[1:]
            case "zero":
                return before + bytes(min(16, len(behind))) + behind[16:]
            case "insert":
                return before + self.junk + behind
            case "repeat":
                return content + behind
        return content


def drawn(random: Random, junk: bytes = b"") -> Damage:
    return Damage(
        random.choice(KINDS), random.random(), random.randrange(8), junk or random.randbytes(random.randint(1, 8))
    )
