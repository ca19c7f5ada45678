"""``anaphora rescore``: an n-best list of another program with the scores of a language model."""

from pathlib import Path
from typing import Annotated

import typer

from anaphora.cli.files import check_writable, given_lines, named
from anaphora.cli.options import RunFolder, Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError

_NAME = "LM0"

EXAMPLES = (
    "anaphora rescore runs/ptb nbest.txt --output rescored.txt",
    "anaphora rescore runs/ptb nbest.txt --format kaldi",
)


def run(
    run_folder: RunFolder,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="The list.")] = "-",
    kind: Annotated[
        str, typer.Option("--format", metavar="moses|kaldi|srilm", help="moses and kaldi: base e; srilm: base 10.")
    ] = "moses",
    name: Annotated[
        str | None, typer.Option(help=f"What the new feature of a moses list is called; {_NAME} unless given.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the list here instead of printing it.")] = None,
    threads: Threads = 0,
) -> None:
    """Add what a language model says to every hypothesis of a list; all else in it stays, but CRLF becomes LF."""
    from anaphora.config import unknown
    from anaphora.formats.lines import write_lines
    from anaphora.formats.nbest import FORMATS, check_name, check_new, parse_list
    from anaphora.tasks.language_model import LanguageModelPredictor
    from anaphora.tasks.runs import load_as

    if kind not in FORMATS:
        raise ConfigError(unknown("--format", kind, FORMATS))
    written = FORMATS[kind]
    if name is not None and not written.names_features:
        raise ConfigError(f"--name calls the new feature of a moses list, but the scores of {kind} have no names.")
    feature = _NAME if name is None else name
    check_name(feature)
    check_writable(output, read=[file, run_folder])
    use_threads(threads)
    shown = named(file)
    entries = parse_list(list(given_lines(file)), written, shown)
    check_new(feature, entries, shown)
    with listening() as report:
        model = load_as(LanguageModelPredictor, run_folder, "a language model", report)
        scores = model.score_lines([entry.text for entry in entries], report=report)
    lines = [written.scored(entry, score.log10, feature) for entry, score in zip(entries, scores, strict=True)]
    if output is None:
        for line in lines:
            typer.echo(line)
    else:
        write_lines(output, lines)
    say(
        f"{len(lines):,} hypotheses, {sum(score.unknown for score in scores):,} unknown units scored as <unk>; the new "
        f"scores are logarithms to base {written.base}."
    )
