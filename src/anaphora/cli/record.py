"""``anaphora record``: a web page that records pen strokes.

Examples:
    anaphora record strokes.html
"""

from importlib import resources
from pathlib import Path
from typing import Annotated

from anaphora.cli.files import check_writable
from anaphora.cli.talk import say
from anaphora.options import Argument


def run(output: Annotated[Path, Argument("File for the page.", metavar="FILE.html")]) -> None:
    """Write a web page that records handwriting.

    It takes a pen, a finger or a mouse. The page is one file that makes no request; it saves .jsonl, which anaphora
    train --task trace and draw --prime read.
    """
    check_writable(output)

    from anaphora.formats.lines import write_lines

    page = resources.files("anaphora.tasks.trace") / "page.html"  # one file, which makes no request
    write_lines(output, page.read_text(encoding="utf-8").splitlines())
    say(f"Open {output} in a browser, write, save, and train:  anaphora train --task trace --data FOLDER")
