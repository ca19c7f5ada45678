"""``anaphora translate``: lines in, translated lines out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.opening import check_writable, given_lines, open_translator
from anaphora.cli.options import Beam, LengthPenalty, RunFolder, Threads, use_threads
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.pipeline import Translation

EXAMPLES = (
    "anaphora translate runs/en-de test.en --output test.de",
    "anaphora translate runs/en-de test.en --replace-unknown --dictionary en-de.tsv",
    "echo 'A man is walking.' | anaphora translate runs/en-de --alignments links.txt",
)


def run(
    run_folder: RunFolder,
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="Text to translate, line by line.")] = "-",
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
    candidates: Annotated[
        Path | None,
        typer.Option(help="Write with frequent words and with the translations in this dictionary alone, faster."),
    ] = None,
    frequent: Annotated[
        int | None, typer.Option(min=0, help="With --candidates: how many frequent words. [default: 2000]")
    ] = None,
    each: Annotated[
        int | None, typer.Option(min=0, help="With --candidates: translations of each source word. [default: 10]")
    ] = None,
    threads: Threads = 0,
) -> None:
    """Translate a text line by line; lines, and the white space in them, stay where they are."""
    if dictionary is not None and not replace_unknown:
        raise ConfigError("--dictionary belongs to --replace-unknown, which is missing.")
    if candidates is None and (frequent is not None or each is not None):
        raise ConfigError("--frequent and --each belong to --candidates, which is missing.")
    check_writable(output, alignments)
    use_threads(threads)

    from anaphora.formats.dictionary import read_dictionary
    from anaphora.pipeline.candidates import Candidates

    entries = read_dictionary(dictionary) if dictionary is not None else {}
    words = {word: translations[0] for word, translations in entries.items()}
    counts = {name: count for name, count in (("frequent", frequent), ("each", each)) if count is not None}
    chosen = None if candidates is None else Candidates(read_dictionary(candidates), **counts)
    with listening() as report:
        translator = open_translator(run_folder, report)
        translate = translator.translate if no_split else translator.translate_text
        translations = translate(
            given_lines(file),
            beam=beam,
            length_penalty=length_penalty,
            replace_unknown=words if replace_unknown else None,
            candidates=chosen,
            report=report,
        )
    _write(translations, output, alignments)


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
