"""``anaphora translate``: lines in, translated lines out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.opening import check_writable, given_lines, open_translators
from anaphora.cli.options import Beam, LengthPenalty, Mean, Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.pipeline import Translation

EXAMPLES = (
    "anaphora translate runs/en-de test.en --output test.de",
    "anaphora translate runs/en-de-1 runs/en-de-2 runs/en-de-3 test.en --beam 8",
    "anaphora translate runs/en-de test.en --replace-unknown --dictionary en-de.tsv",
    "echo 'A man is walking.' | anaphora translate runs/en-de --alignments links.txt",
)


def run(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [FILE|-]",
            help="A run folder, or several that translate together; then a text to translate, line by line.",
        ),
    ],
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    output: Annotated[Path | None, typer.Option(help="Write the translations here instead of printing them.")] = None,
    alignments: Annotated[
        Path | None, typer.Option(help="Write word links here, a line a sentence: 0-0 1-2 (Pharaoh format).")
    ] = None,
    no_split: Annotated[
        bool, typer.Option("--no-split", help="Take every line as one sentence; else lines are split into sentences.")
    ] = False,
    replace_unknown: Annotated[
        bool,
        typer.Option("--replace-unknown", help="Put the source word that was looked at most in place of every <unk>."),
    ] = False,
    dictionary: Annotated[
        Path | None,
        typer.Option(help="With --replace-unknown: word, tab, translation; words that are in it are translated."),
    ] = None,
    mean: Mean = "",
    threads: Threads = 0,
) -> None:
    """Translate a text line by line; lines, and the white space in them, stay where they are."""
    runs, file = _runs_and_file(given)
    if dictionary is not None and not replace_unknown:
        raise ConfigError("--dictionary belongs to --replace-unknown, which is missing.")
    check_writable(output, alignments)
    use_threads(threads)

    from anaphora.formats.dictionary import read_dictionary

    words = read_dictionary(dictionary) if dictionary is not None else {}
    with listening() as report:
        translator = open_translators(runs, mean, report)
        translate = translator.translate if no_split else translator.translate_text
        translations = translate(
            given_lines(file),
            beam=beam,
            length_penalty=length_penalty,
            replace_unknown=words if replace_unknown else None,
            report=report,
        )
    _write(translations, output, alignments)


def _runs_and_file(given: list[str]) -> tuple[list[Path], str]:
    """The run folders, and the file behind them; "-" where there is none. The first is always meant as a run."""
    runs = [Path(given[0]), *(Path(one) for one in given[1:] if Path(one).is_dir())]
    files = [one for one in given[1:] if not Path(one).is_dir()]
    if len(files) > 1 or (files and given[-1] != files[0]):
        raise ConfigError(
            f"Run folders come first and then one text, but {files[0]} is no folder and something stands behind it: "
            f"give one text a time."
        )
    return runs, files[0] if files else "-"


def _write(translations: list["Translation"], output: Path | None, alignments: Path | None) -> None:
    from anaphora.formats.lines import write_lines
    from anaphora.formats.pharaoh import to_pharaoh

    texts = [translation.text for translation in translations]
    if output is not None:
        write_lines(output, texts)
    else:
        for text in texts:
            typer.echo(text)
    if alignments is not None:
        write_lines(alignments, (to_pharaoh(translation.links()) for translation in translations))
