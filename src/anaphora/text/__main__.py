"""``python -m anaphora.text roundtrip FILE..``: how many lines come back from their tokens as they were."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, get_args

from anaphora.errors import AnaphoraError
from anaphora.formats.lines import read_lines
from anaphora.text.segmentation import Segmentation, Tokens, tokens_of
from anaphora.wording import inflect


class Roundtrip(NamedTuple):
    """Lines that were split into tokens and joined again."""

    lines: int
    same: int
    """Those that came back character for character."""
    different: tuple[int, str, str] | None
    """The first that did not: its number, the line, and what came back."""


def roundtrip(lines: Iterable[str], tokens: Tokens) -> Roundtrip:
    """Split every line and join it again, in Unicode normal form C as it is in training."""
    from anaphora.text.normalise import normalise

    count = same = 0
    different = None
    for count, line in enumerate(lines, 1):
        again = tokens.join(tokens.split(normalise(line)))
        same += again == line
        if again != line and different is None:
            different = count, line, again
    return Roundtrip(count, same, different)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the rate of every file, with the first line that changed; 0, or 2 after an error."""
    parser = ArgumentParser("python -m anaphora.text", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="roundtrip")
    verb = verbs.add_parser("roundtrip", help="split and join every line; print the percentage that comes back")
    verb.add_argument("files", nargs="+", type=Path, metavar="FILE", help="text, gzipped or not, markup taken as text")
    verb.add_argument("--segmentation", choices=get_args(Segmentation), default="joiner", help="[default: joiner]")
    verb.add_argument("--language", help="two-letter code [default: the ending of the file's name, or en]")
    asked = parser.parse_args(arguments)
    try:
        for file in asked.files:
            language = asked.language or Path(file.name.removesuffix(".gz")).suffix[1:] or "en"
            found = roundtrip(read_lines(file, any_format=True), tokens_of(asked.segmentation, language))
            rate = 100 * found.same / found.lines if found.lines else 100.0
            print(f"{rate:.2f}% of {inflect(found.lines, 'line')}  {file}")
            if found.different:
                number, line, again = found.different
                print(f"  {number}: {line!a}\n  {'':{len(str(number))}}  {again!a}")
    except AnaphoraError as error:
        print(f"anaphora: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
