"""The command ``anaphora``: its verbs, and what becomes of an error.

What a person asked for goes to standard output, everything said on the way to standard error. Verbs import what they
need when they are called, so that ``--help`` is quick.
"""

import io
import os
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import chain
from textwrap import dedent, indent
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import anaphora
from anaphora.cli.tables import with_tables
from anaphora.cli.talk import complain, give_up, say, show, shown_safely
from anaphora.errors import AnaphoraError, MissingExtraError
from anaphora.files import remedy

ENDED_BY = {129: "hung up.", 130: "interrupted.", 143: "terminated."}
BROKEN_PIPE = 141
_TIGHT = 60
"""Columns below which groups of verbs are named above them."""
_NO_MEMORY = ("can't allocate memory", "out of memory")
"""Messages of torch where Python has a MemoryError, of the machine and of a GPU."""

# typer keeps the parser that it is built on to itself; this is what that parser raises for a wrong command line
_UsageError: Any = typer.BadParameter.__base__


class GroupedCommand(TyperCommand):
    """A command whose options are listed by heading, those without one first."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then every group of options."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=min(30, formatter.width // 2 - 5))


class VerbList(TyperGroup):
    """List of the verbs by group; a group is named left of its first verb, in narrow terminals above it."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write every verb with the first line of its help."""
        above = formatter.width < _TIGHT
        rows = list[tuple[str, str]]()
        for heading, verbs in VERBS.items():
            beside = "" if above else heading
            rows += [(heading, "")] if above else []
            for verb in verbs:
                summary, *_ = str(self.commands[verb].help).splitlines()
                rows.append((f"{beside:<{2 if above else 13}}{verb}", summary.rstrip(".")))
                beside = ""
        with formatter.section("Commands"):
            formatter.write_dl(rows)


app = typer.Typer(
    name="anaphora",
    cls=VerbList,
    help="Recurrent sequence models on your own text, on the machine you have.",
    epilog="One command in detail: anaphora COMMAND --help",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    # plain help takes half the time, and reads the same through a pipe
    rich_markup_mode=None,
    add_completion=False,
)
VERBS = {
    "Start": ("try", "quickstart", "recipes", "settings"),
    "Data": ("fetch", "check", "record"),
    "Train": ("train", "distill", "average", "mix", "shortlist"),
    "Use": ("translate", "memory", "align", "predict", "generate", "draw", "score", "rescore"),
    "Judge": ("evaluate", "compare", "calibrate"),
    "Look inside": ("info", "inspect"),
    "Share": ("export", "serve"),
}
"""A file of this folder for each verb, by its group, in the order of the help."""

WELCOME = """\
Begin:          anaphora try
Your own text:  anaphora train --help
All commands:   anaphora --help"""
"""The answer to the name of the program alone, for terminals of 40 columns."""

for name in chain(*VERBS.values()):
    verb = import_module(f"anaphora.cli.{name}")
    _, _, examples = str(verb.__doc__).partition("Examples:\n")
    command = with_tables(verb.run, getattr(verb, "CONFLICTS", ()))
    # the backspace keeps the parser from running the lines together
    epilog = f"\b\nExamples:\n{indent(dedent(examples), '  ')}"
    app.command(name=name, epilog=epilog.rstrip(), cls=GroupedCommand)(command)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"anaphora {anaphora.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def _rejected_value(error: Any) -> str:
    """Return the value that an option was given and cannot have, where the parser's sentence leaves it out."""
    errors = getattr(error.__cause__, "errors", None)  # of pydantic, which newer versions of the parser use
    return f", but got {errors()[0]['input']!r}" if errors else ""


def _open_streams() -> None:
    """Let what is written to a closed standard output or error go nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (open to the end, as they are)


RENAMED = {"--frequent": "--frequent-words", "--each": "--translations-per-word"}
"""Older names of options, still read in this version."""


def _with_new_names(given: Sequence[str]) -> list[str]:
    """Return the arguments with the new names of options, and warn of each old one."""
    found = list(given)
    for place, argument in enumerate(found[: found.index("--") if "--" in found else None]):
        name, *value = argument.split("=", 1)
        if name in RENAMED:
            say(f"{name} is called {RENAMED[name]} now; its old name will go with the next version.")
            found[place] = "=".join((RENAMED[name], *value))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (by default this process's own) and return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    # Threads wait for each other by spinning for a short while, then sleep: with the long default an
    # update takes ten times as long as soon as anything else wants a core, without any spinning half as long again.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    _open_streams()
    # all text is UTF-8, which a pipe should not depend on a locale for
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    with shown_safely():
        return _run(given)


def _run(given: Sequence[str]) -> int:
    try:
        if not given:
            show(WELCOME)
        columns = min(80, shutil.get_terminal_size().columns) - 2  # by itself the parser takes no less than 50
        options = {"prog_name": "anaphora", "standalone_mode": False, "terminal_width": columns}
        code = app(args=_with_new_names(given), **options) if given else 0
        sys.stdout.flush()
    except AnaphoraError as error:
        complain(str(error))
        return error.exit_code
    except _UsageError as error:
        verb = error.ctx.command_path if error.ctx else "anaphora"
        complain(f"{error.format_message().rstrip('.')}{_rejected_value(error)} (see {verb} --help)")
        return AnaphoraError.exit_code
    except (BrokenPipeError, SystemExit):  # typer turns the one into the other
        give_up(sys.stdout)  # whoever read it has gone
        return BROKEN_PIPE
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        missing = MissingExtraError("torch", "train")
        complain(str(missing))
        return missing.exit_code
    except OSError as error:
        give_up(sys.stdout)
        what = error.filename or "Standard output"
        complain(f"{what} cannot be used: {error.strerror or error}; {remedy(error)}, or give another place.")
        return AnaphoraError.exit_code
    except (MemoryError, RuntimeError) as error:
        if not (isinstance(error, MemoryError) or any(words in str(error) for words in _NO_MEMORY)):
            raise
        complain(
            "This machine ran out of memory: give shorter lines; for training a smaller training.batch_tokens or "
            "data.max_length, or for n-grams a smaller ngram.order."
        )
        return AnaphoraError.exit_code
    if code in ENDED_BY:
        complain(ENDED_BY[code])
    return code if isinstance(code, int) else 0
