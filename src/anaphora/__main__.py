"""``python -m anaphora`` is the command ``anaphora``."""

import sys

from anaphora.cli import main

if __name__ == "__main__":
    sys.exit(main())
