"""``python -m anaphora.samples.scenes FOLDER [SEED]``: write a corpus of drawn scenes."""

import sys
from pathlib import Path

from anaphora.samples.scenes import write

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("Usage: python -m anaphora.samples.scenes FOLDER [SEED]")
    print(write(Path(sys.argv[1]), *map(int, sys.argv[2:])))
