import io
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from typer.main import get_command

import anaphora.cli
from anaphora import recipes
from anaphora.cli.app import VERBS as GROUPS
from anaphora.cli.app import app, main

from ..conftest import Trained
from .conftest import Cli

COMMAND = [sys.executable, "-m", "anaphora"]
VERBS = tuple(get_command(app).commands)  # type: ignore[attr-defined]  # it is a group


def seconds_of_help() -> float:
    """The processor's time, since neighbours take the clock's."""
    before = os.times()
    subprocess.run([*COMMAND, "--help"], capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def test_help_is_quick() -> None:
    # alone on the machine it takes under 0.2 s; the bound leaves room for a core that is shared
    assert any(seconds_of_help() < 0.4 for _ in range(5))


def test_help_the_version_and_errors_in_arguments_import_nothing_heavy() -> None:
    lines = (["train", "--help"], ["--version"], ["trnslate"], ["translate"], ["translate", "run", "--beam", "x"],
             ["translate", "run", "--output", "missing/folder/text"])  # fmt: skip
    script = (
        f"import sys; from anaphora.cli.app import main; codes = [main(line) for line in {lines}];"
        "heavy = ('torch', 'numpy', 'sentencepiece', 'sacrebleu', 'rich');"
        "print(codes, *(name for name in heavy if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[0, 0, 2, 2, 2, 2]"


def test_a_process_looks_for_garbage_as_usual_once_its_work_begins() -> None:
    script = (
        "import gc, sys; from anaphora.cli import main, app, progress\n"
        "def work(*_, **__):\n"
        "    seen = [gc.get_threshold() == usual]\n"
        "    with progress.listening(): seen.append(gc.get_threshold() == usual)\n"
        "    print(seen, gc.get_freeze_count() > 10_000)\n"
        "usual = gc.get_threshold(); app.app = work; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script, "work"], capture_output=True, text=True, check=True)
    assert done.stdout == "[False, True] True\n"


@pytest.mark.parametrize(("thread", "expected"), [("", "work, registered, "), ("thread.start(); ", "work, thread, ")])
def test_a_process_ends_without_taking_everything_apart_once_its_threads_have(thread: str, expected: str) -> None:
    script = (
        "import atexit, sys, threading, time; from anaphora.cli import app, main\n"
        "class Kept:\n"
        "    def __del__(self): print('taken apart, ', end='')\n"
        "def late(): time.sleep(0.1); print('thread, ', end='')\n"
        "kept = Kept(); atexit.register(print, 'registered, ', end=''); thread = threading.Thread(target=late)\n"
        f"app.app = lambda **_: print('work, ', end=''); {thread}sys.exit(main() or 3)"
    )
    done = subprocess.run([sys.executable, "-c", script, "work"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith(expected)
    assert done.returncode == (3 if thread else 0)
    assert thread or "taken apart" not in done.stdout


def test_every_verb_is_listed_and_has_help_with_examples(cli: Cli) -> None:
    listed = cli("--help").out
    assert cli("--version").out == f"anaphora {anaphora.__version__}\n"
    for verb in VERBS:
        shown = cli(verb, "--help").out
        assert f"  {verb} " in listed and f"Usage: anaphora {verb}" in shown
        assert f"Examples:\n    anaphora {verb}" in shown


def test_every_file_with_a_verb_stands_in_one_group() -> None:
    folder = Path(anaphora.cli.__file__).parent
    files = sorted(file.stem for file in folder.glob("*.py") if "\ndef run(" in file.read_text(encoding="utf-8"))
    assert sorted(chain(*GROUPS.values())) == files == sorted(VERBS)


def test_all_verbs_fit_on_one_screen_with_their_groups_in_order(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("--help").lines
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    listed = lines[lines.index("Commands:") + 1 :]
    assert [heading for line in listed if (heading := line[2:15].strip()) in GROUPS] == list(GROUPS)
    assert sum(line[15:].startswith(f"{verb} ") for line in listed for verb in VERBS) == len(VERBS)


@pytest.mark.parametrize("verb", [(), ("info",), ("recipes",)])
def test_help_fits_a_narrow_terminal(verb: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    shown, _, examples = cli(*verb, "--help").out.partition("Examples:")  # which are copied as they are
    assert max(map(len, shown.splitlines())) <= 40
    assert verb == () or examples


def test_the_name_alone_says_where_to_begin(cli: Cli) -> None:
    lines = cli().lines
    assert len(lines) == 3 and max(map(len, lines)) <= 40
    assert all(re.search(r"anaphora (\S+)", line) for line in lines)


def test_recipes_are_listed_and_printed(cli: Cli) -> None:
    listed = cli("recipes").lines
    assert [line.split()[0] for line in listed] == ["auto", *recipes.names()]
    assert list(cli("recipes", "--json").json) == ["auto", *recipes.names()]
    assert cli("recipes", "character-lm").out == recipes.read("character-lm")
    described = cli("recipes", "auto").lines
    assert all(line.startswith("#") for line in described)
    for size in "5,000", "1,000,000", "200,000":  # what the data chooses depends on how much there is
        assert any(re.match(rf"# +{size} ", line) for line in described)


@pytest.mark.parametrize("recipe", ["character-lm", "ptb-ngram"])
def test_a_recipe_prints_its_steps_or_why_there_are_none(recipe: str, cli: Cli) -> None:
    shown, table = cli("recipes", recipe, "--program").out, cli("recipes", recipe, "--program", "--json").json
    assert bool(table["note"]) == (not table["programs"]) == (recipe == "ptb-ngram")
    if table["note"]:
        assert shown == table["note"] + "\n" and shown.startswith(f"{recipe} has no steps to show: ")
    for step in table["programs"]:
        assert step["name"] in shown
        places = [shown.index(f". {part['name']}: ") for part in step["parts"]]
        assert places == sorted(places)


def test_what_is_printed_is_utf8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="latin-1"))
    assert main(["recipes", "ud-ewt-upos"]) == 0
    assert printed.getvalue().decode() == recipes.read("ud-ewt-upos")


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_what_is_written_to_a_closed_stream_goes_nowhere(name: str, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setattr(sys, name, None)
    assert cli("recipes", "nothing", code=2).out == ""
    cli("recipes")
    getattr(sys, name).close()


def test_standard_input_is_translated_line_by_line_and_lines_by_sentence_unless_they_stay_whole(
    trained: Trained, cli: Cli
) -> None:
    cli.pipe("abc\r\n\nd\u2028e\n".encode())
    written = cli("translate", trained("translator")).out
    assert written.count("\n") == 3 and written.split("\n")[1] == ""
    text, answer = cli.write("text.en", "  Abc. Def.\n"), cli.folder / "text.fr"
    for options, indented in ((["--alignments", cli.folder / "l"], True), (["--no-split"], False)):
        cli("translate", trained("translator"), text, "--output", answer, *options)
        assert answer.read_text().startswith("  ") == indented
