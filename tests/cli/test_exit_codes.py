"""Every exit code of the documented table happens."""

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.site import pages

from ..conftest import Trained
from .conftest import Cli

COMMAND = [sys.executable, "-m", "anaphora"]
PAGES = [page.read_text(encoding="utf-8") for page in pages()]


def documented() -> list[int]:
    [table] = [page.partition("## Exit codes")[2].partition("\n## ")[0] for page in PAGES if "## Exit codes" in page]
    return [int(code) for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for code in row.split(",")]


def code_of_signal(number: signal.Signals, run: Path) -> int:
    """The code that a shell shows for a command that answers lines when a signal comes."""
    command = [*COMMAND, "score", str(run)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # a shell lets what runs in its background ignore some signals
    with subprocess.Popen(command, **pipes, preexec_fn=partial(signal.signal, number, signal.SIG_DFL)) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"line 3 of the little book\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        process.communicate(timeout=60)
    return process.returncode if process.returncode >= 0 else 128 - process.returncode


def code_without_a_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, "recipes"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert done.stderr == b""
    return done.returncode


def test_every_exit_code_of_the_table_happens(
    cli: Cli, trained: Trained, trained_copy: Trained, tiny_language_model: Path, toy_book: Path
) -> None:
    counts, empty = trained("counts"), trained_copy("counts")
    shutil.rmtree(empty / "checkpoints")
    hopeless = ("--set", "training.optimizer.learning_rate=1e30", "--set", "training.skip_limit=1")
    commands = {
        0: ("info", counts),
        1: ("info", empty),
        2: ("info", cli.folder / "nowhere"),
        3: ("train", tiny_language_model, "--data", toy_book, "--run", cli.folder / "run", *hopeless),
    }
    for code, command in commands.items():
        cli(*command, code=code)
    others = {128 + number: code_of_signal(number, counts) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
    others[128 + signal.SIGPIPE] = code_without_a_reader()
    assert others == {code: code for code in others}
    assert sorted([*commands, *others]) == sorted(documented())


def test_no_page_names_a_code_that_the_table_lacks() -> None:
    named = {code for page in PAGES for code in re.findall(r"[Ee]xit code (?:is )?(\d+)", page)}
    assert named and {int(code) for code in named} <= {*documented()}
