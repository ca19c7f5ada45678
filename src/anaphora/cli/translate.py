"""``anaphora translate``: lines in, translated lines out."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.documents import document_kind, translate_document
from anaphora.cli.files import check_writable, given_texts, is_typed, typed_texts, writing
from anaphora.cli.options import (
    Beam,
    CandidatesOption,
    DeviceOption,
    Dictionary,
    Each,
    Frequent,
    FusionWeight,
    LanguageModelRun,
    LengthPenalty,
    Mean,
    PrecisionOption,
    ReplaceUnknown,
    Threads,
    candidates_of,
    fusion_of,
    known_device,
    known_mean,
    known_precision,
    replacements_of,
    use_threads,
)
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError
from anaphora.wording import agreeing, counted

if TYPE_CHECKING:
    from anaphora.events import Note, Report
    from anaphora.tasks.translation import Translation
    from anaphora.text.quality import Difference

EXAMPLES = (
    "anaphora translate runs/en-de test.en --output test.de",
    "anaphora translate runs/en-de-1 runs/en-de-2 runs/en-de-3 test.en --beam 8",
    "anaphora translate runs/en-de test.en --language-model runs/german --fusion-weight 0.2",
    "anaphora translate runs/en-de test.en --json --output test.jsonl",
    "anaphora translate runs/en-de test.en --replace-unknown --dictionary en-de.tsv",
    "anaphora translate runs/de-en news.de --no-split --pairs made.tsv --translation-first",
    "anaphora translate runs/en-de app.po --output app.de.po",
    "echo 'A man is walking.' | anaphora translate runs/en-de --alignments links.txt",
)

Output = Annotated[Path | None, typer.Option(help="Write translations to this file instead of printing them.")]
JsonLines = Annotated[
    bool, typer.Option("--json", help="Print a JSON object per line, with its score and what it lost or added.")
]
Alignments = Annotated[
    Path | None, typer.Option(help="Write word alignments to this file, one line per sentence (Pharaoh format).")
]
Pairs = Annotated[Path | None, typer.Option(help="Write source, tab, translation to this .tsv file, to train on.")]
TranslationFirst = Annotated[
    bool, typer.Option("--translation-first", help="With --pairs: translation first, then source.")
]
NoSplit = Annotated[
    bool, typer.Option("--no-split", help="Translate each line as one sentence, stripped of outer white space.")
]


def run(
    given: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... [FILE|-]",
            help="Run folder, or several as an ensemble, then a text or a document.",
        ),
    ],
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    output: Output = None,
    alignments: Alignments = None,
    pairs: Pairs = None,
    translation_first: TranslationFirst = False,
    no_split: NoSplit = False,
    as_json: JsonLines = False,
    replace_unknown: ReplaceUnknown = False,
    dictionary: Dictionary = None,
    candidates: CandidatesOption = None,
    frequent: Frequent = None,
    each: Each = None,
    mean: Mean = "",
    language_model: LanguageModelRun = None,
    fusion_weight: FusionWeight = None,
    threads: Threads = 0,
    device: DeviceOption = "cpu",
    precision: PrecisionOption = "fp32",
) -> None:
    """Translate lines of text, or what a document (TMX, PO, XLIFF, HTML, SRT) lacks.

    At a terminal, translate each line that is typed, until Ctrl-D.
    """
    runs, file = _runs_and_file(given)
    fusion = fusion_of(language_model, fusion_weight)
    outputs = _Outputs(output, alignments, pairs, translation_first, as_json)
    outputs.check(read=[*runs, language_model, file, dictionary, candidates])
    use_threads(threads)
    where = known_device(device), known_precision(precision)
    words, chosen = replacements_of(replace_unknown, dictionary), candidates_of(candidates, frequent, each)

    from anaphora.prediction.options import SearchOptions
    from anaphora.tasks.translation import NO_LINKS, load_together

    kind = document_kind(file, alignments=alignments, pairs=pairs, json=as_json)
    links = alignments is not None
    options = SearchOptions(beam, length_penalty, replace_unknown=words, candidates=chosen, attention=links)
    typed = is_typed(file)
    with listening(bars=not typed) as report:
        translator = load_together(runs, known_mean(mean, len(runs)), fusion, report, *where)
        if links and not translator.attends:
            raise ConfigError(NO_LINKS)
        if kind:
            return translate_document(translator, Path(file), kind, output, options, report, split=not no_split)
        waiting = deque[str]()
        lines = _remembered(typed_texts() if typed else given_texts(file), waiting)
        texts: Iterable[Iterable[str]] = ([line] for line in lines) if typed else [lines]
        answers = (translator.stream(some, options, split=not no_split, report=report) for some in texts)
        outputs.write(waiting, chain.from_iterable(answers), report)


def _remembered(lines: Iterable[str], waiting: deque[str]) -> Iterator[str]:
    """The lines, each put where it waits for its translation: they are read ahead, by another thread."""
    for line in lines:
        waiting.append(line)
        yield line


def _runs_and_file(given: list[str]) -> tuple[list[Path], str]:
    """The run folders, and the file after them; "-" where there is none. The first is always meant as a run."""
    runs = [Path(given[0]), *(Path(one) for one in given[1:] if Path(one).is_dir())]
    files = [one for one in given[1:] if not Path(one).is_dir()]
    if len(files) > 1 or (files and given[-1] != files[0]):
        raise ConfigError(
            f"Run folders come first and then one text, but {files[0]} is no folder and something follows it: "
            f"give one text a time."
        )
    return runs, files[0] if files else "-"


@dataclass(frozen=True)
class _Outputs:
    """The files that translations go to; they are printed where neither a text nor pairs are asked for."""

    text: Path | None
    alignments: Path | None
    pairs: Path | None
    translation_first: bool
    as_json: bool

    def check(self, read: Sequence[Path | str | None]) -> None:
        """Refuse files that cannot be written, one for two of them, pairs nothing can train on, an order of none."""
        files = {"--output": self.text, "--alignments": self.alignments, "--pairs": self.pairs}
        check_writable(*files.values(), read=read)
        for (one, file), (another, other) in combinations(files.items(), 2):
            if file is not None and other is not None and file.absolute() == other.absolute():
                raise ConfigError(f"{one} and {another} should be two files, but both are {file}: name another.")
        if self.pairs is not None and not self.pairs.name.lower().removesuffix(".gz").endswith(".tsv"):
            raise ConfigError(
                f"--pairs should be a .tsv file, which training reads, but is {self.pairs}: name it {self.pairs}.tsv."
            )
        if self.pairs is None and self.translation_first:
            raise ConfigError("--translation-first belongs to --pairs, which is missing.")
        if self.as_json and self.pairs is not None and self.text is None:
            raise ConfigError(
                "--json is for translations, but --pairs alone writes pairs: add --output, or leave it out."
            )

    def write(self, waiting: deque[str], translations: "Iterable[Translation]", report: "Report") -> None:
        """Write translations wherever they should go, as they come, and report what differs from the waiting lines."""
        from anaphora.formats.pharaoh import to_pharaoh
        from anaphora.text.tokenizer import MARKS, UNK

        count = unknown = 0
        losses = _Losses(report)
        with ExitStack() as files:
            texts = files.enter_context(writing(self.text)) if self.text or not self.pairs else None
            links = files.enter_context(writing(self.alignments)) if self.alignments else None
            pairs = files.enter_context(writing(self.pairs)) if self.pairs else None
            for translation in translations:
                line = waiting.popleft()
                differing = losses.of(line, translation.text)
                if pairs:
                    sides = (translation.text, line) if self.translation_first else (line, translation.text)
                    pairs("\t".join(side.replace("\t", " ") for side in sides))
                if texts:
                    texts(_json(translation, differing) if self.as_json else translation.text)
                if links:
                    links(to_pharaoh(translation.links()))
                count += 1
                unknown += MARKS[UNK] in translation.text
        losses.close()
        if self.pairs is not None and unknown:
            report(_unknown_in_pairs(unknown, count))


_SHOWN = 10
"""Lines whose losses are reported one by one."""


class _Losses:
    """Lines whose numbers, addresses, placeholders or tags are not those of their translations."""

    def __init__(self, report: "Report") -> None:
        self._report = report
        self._lines = self._lossy = 0

    def of(self, line: str, translation: str) -> "list[Difference]":
        """What differs between the next line and its translation, which is reported of the first ones."""
        from anaphora.events import Note
        from anaphora.text.quality import differences
        from anaphora.text.tokenizer import MARKS, UNK

        found = list(differences(line, translation.replace(MARKS[UNK], " ")))
        self._lines += 1
        self._lossy += bool(found)
        if found and self._lossy <= _SHOWN:
            differing = "; ".join(f"{one.kind} ({one})" for one in found)
            self._report(Note(f"line {self._lines} and its translation differ in {differing}", warning=True))
        return found

    def close(self) -> None:
        """Report how many there are, where not all of them were reported."""
        from anaphora.events import Note

        if self._lossy > _SHOWN:
            self._report(
                Note(
                    f"{self._lossy:,} of {counted(self._lines, 'line')} differ from their translations in numbers, "
                    f"addresses, placeholders or tags: --json has them all.",
                    warning=True,
                )
            )


def _json(translation: "Translation", differing: "list[Difference]") -> str:
    from anaphora.formats.figures import figures_as_json

    return figures_as_json(
        {
            "text": translation.text,
            "score": translation.score,
            "finished": translation.finished,
            "unknown": translation.unknown,
            "differences": [one._asdict() for one in differing],
        }
    )


def _unknown_in_pairs(unknown: int, count: int) -> "Note":
    """How many pairs to train on hold ``<unk>``, which training takes for any other text."""
    from anaphora.events import Note
    from anaphora.text.tokenizer import MARKS, UNK

    return Note(
        f"{unknown:,} of {counted(count, 'translation')} {agreeing(unknown, 'have')} {MARKS[UNK]} inside, which "
        f"training takes for text: "
        f"--replace-unknown puts the source's words in its place, or leave those pairs out.",
        warning=True,
    )
