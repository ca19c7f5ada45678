"""``python -m tests.faults``: the campaigns, for MINUTES (5), from SEED (random); or one TRIAL of them again."""

import os
import sys
import uuid

from tests.faults.campaign import import_all, repeat, run
from tests.faults.processes import Fault


def main() -> int:
    """The exit code: 1 where a fault was found."""
    import_all()
    if trial := os.environ.get("TRIAL"):
        try:
            print(repeat(trial))
        except Fault as fault:
            print(fault)
            return 1
        return 0
    seed = os.environ.get("SEED") or uuid.uuid4().hex[:8]
    return int(run(float(os.environ.get("MINUTES") or 5), seed, sys.stdout) > 0)


if __name__ == "__main__":
    sys.exit(main())
