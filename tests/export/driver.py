"""How the tests run a driver: without torch and without the package."""

import sys
from argparse import Namespace

ALONE = [
    sys.executable,
    "-c",
    "import os, runpy, sys; sys.modules['torch'] = sys.modules['anaphora'] = None; sys.argv = sys.argv[1:]; "
    "sys.path[0] = os.path.dirname(sys.argv[0]); runpy.run_path(sys.argv[0], run_name='__main__')",
]
"""A command that runs the file behind it as Python does, without torch and without the package."""
ASKED = Namespace(beam=None, length_penalty=None, scores=False)
"""The driver's options by default."""
