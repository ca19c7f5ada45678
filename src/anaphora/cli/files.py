"""The files that verbs read and write: lines, pairs, and an output that can be written."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anaphora.cli.talk import put, say
from anaphora.errors import DataError
from anaphora.formats.lines import Refuse, decode_lines, read_lines, writing_lines, writing_text
from anaphora.text.special_tokens import without_special_tokens


def is_interactive(file: str) -> bool:
    """True if ``file`` is standard input, and a person types there and reads the answers."""
    return file == "-" and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def typed_texts() -> Iterator[str]:
    """Yield the lines that a person types after a prompt, to be answered one by one, until Ctrl-D; none is kept."""
    with suppress(ImportError):
        import readline  # noqa: F401 - what edits the line of ``input``, where the system has it

    while True:
        try:
            line = input("> ")
        except EOFError:
            print()
            return
        yield line


def given_texts(file: str, refuse: Refuse | None = None) -> Iterator[str]:
    """Yield the lines of ``given_lines`` without special tokens at the ends of their columns, which is said once."""
    said = False
    for number, line in enumerate(given_lines(file, refuse=refuse), 1):
        text = "\t".join(map(without_special_tokens, line.split("\t")))
        if text != line and not said:
            said = True
            say(f"Special tokens at the ends of lines, such as <s> or </s>, are left out ({name_of(file)}:{number}).")
        yield text


def given_lines(file: str, *, exact: bool = False, refuse: Refuse | None = None) -> Iterator[str]:
    """Return the lines of a file as they are read, or of standard input for ``-``.

    ``refuse`` and errors as ``formats.lines``.

    With ``exact``, those of any format, with their ends.
    """
    if file != "-":
        return read_lines(Path(file), any_format=exact, exact=exact, pipes=True, refuse=refuse)
    if sys.stdin is None:
        raise DataError("Text is read from standard input, but that is closed: name a file, or pipe the text in.")
    # unbuffered, so that a line is there as soon as it was written
    stream = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    return decode_lines(stream, "standard input", any_format=exact, exact=exact, refuse=refuse)


def name_of(file: str) -> str:
    """Return the name of a file, or of standard input, in messages."""
    return "standard input" if file == "-" else file


def check_writable(*files: Path | None, read: Iterable[str | Path | None] = ()) -> None:
    """Refuse an output whose folder is missing, or that is one, a part of a run or a file to be ``read``.

    Raises DataError before work is done for it.
    """
    sources = [Path(source) for source in read if source is not None and source != "-"]
    for file in filter(None, files):
        if _is_of_a_run(file.resolve()):
            raise DataError(f"{file} cannot be written: it belongs to the run there; name another.")
        if file.is_file() and any(source.exists() and file.samefile(source) for source in sources):
            raise DataError(f"{file} cannot be written: it is a file that is read, and would be lost; name another.")
        if not file.absolute().parent.is_dir():
            raise DataError(f"{file} cannot be written: there is no folder {file.absolute().parent}; make it first.")
        if file.is_dir():
            raise DataError(f"{file} cannot be written: it is a folder; name a file in it.")
        if not os.access(file if file.exists() else file.absolute().parent, os.W_OK):
            raise DataError(f"{file} cannot be written: there is no permission to; name another place.")


def _is_of_a_run(file: Path) -> bool:
    """True if a file, perhaps one that is not there yet, is a part of a run folder."""
    for folder in file.parents:
        if (folder / "experiment.toml").exists():
            from anaphora.run.layout import FOLDERS, file_names

            first, *others = file.relative_to(folder).parts
            if first in (FOLDERS if others else file_names()):
                return True
    return False


@contextmanager
def writing(path: Path | None, *, exact: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes a line to a file, whole once the block ends well, or prints it where there is none.

    With ``exact`` it writes text with its own line ends.
    """
    if path is None:
        yield lambda text: put((text if exact else f"{text}\n").encode())
        return
    with (writing_text if exact else writing_lines)(path) as write:
        yield write
