import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anaphora.cli
from anaphora.cli.progress import listening
from anaphora.cli.talk import console, heading, put, say, shown_safely, visible
from anaphora.events import Note, Progress

CONTROLS = ["\x1b[2J", "\x07", "\x7f", "\x9b31m", "\u202e", "\u2028", "\udc9b", "a\rb"]


class Terminal(io.TextIOWrapper):
    """A stream that says that it is a terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="strict", newline="")

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@contextmanager
def at_terminal() -> Iterator[Terminal]:
    """A terminal in place of standard output and standard error, as the command line uses them."""
    terminal = Terminal()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        with shown_safely():
            yield terminal
        assert sys.stdout is terminal


def is_clean(text: str) -> bool:
    return not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)", text)


@given(st.text())
def test_visible_text_has_no_controls_and_other_text_is_left_alone(text: str) -> None:
    assert is_clean(visible(text)) and visible(visible(text)) == visible(text)
    visible(text).encode()
    if is_clean(text) and text.isprintable():
        assert visible(text) == text


@pytest.mark.parametrize("control", CONTROLS)
def test_no_way_of_printing_shows_a_control_character_but_the_own_on_a_terminal(control: str) -> None:
    with at_terminal() as terminal:
        print(f"a{control}b")
        sys.stdout.writelines([control])
        say(f"a{control}b")
        put(f"a{control}b".encode(errors="surrogateescape"))
        assert is_clean(terminal.shown())
        heading(f"a{control}b")
        console(sys.stdout).print(f"[red]a[/]{control}b")
        with listening() as report:
            report(Note(f"a{control}b"))
            report(Progress(f"a{control}b", 1, 3, control))
    own = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r(?=[\x1b]|$)", "", terminal.shown())
    assert is_clean(own) and "[2J" not in own.replace("\\u001b[2J", "")


@pytest.mark.parametrize("asked", ["", "1"])
def test_nothing_is_bold_or_coloured_where_no_colour_is_asked_for(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", asked)
    with at_terminal() as terminal:
        heading("a")
        console(sys.stdout).print("[red]a[/]")
        with listening() as report:
            report(Progress("a", 1, 3, "lines"))
    assert bool(re.search(r"\x1b\[[0-9;]*m", terminal.shown())) == (asked == "")


def test_data_in_a_pipe_is_exact(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with shown_safely():
        put(b"a\x1b[2J\r\n\xff")
        print("a\x1b[2J")
    assert capfdbinary.readouterr().out.endswith(b"a\x1b[2J\r\n\xffa\\u001b[2J\n")


def test_nothing_else_of_the_command_line_writes_to_a_stream() -> None:
    found = []
    for file in Path(anaphora.cli.__file__).parent.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        ways = r"from rich\.console|std(out|err)\.(write|buffer)|secho|style\(|echo\([^)]*(encode|content)"
        found += [f"{file.name}: {way[0]}" for way in re.finditer(ways, text) if file.name != "talk.py"]
    assert not found
