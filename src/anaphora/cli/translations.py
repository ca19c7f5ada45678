"""The files that ``anaphora translate`` writes: texts, n-best lists, word alignments and pairs."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from anaphora.cli.files import check_writable, writing
from anaphora.cli.tables import given_in
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.options import Needs
from anaphora.wording import agreeing, counted

if TYPE_CHECKING:
    from anaphora.tasks.translation import Translation, TranslationPredictor
    from anaphora.text.quality import Difference

Aligned = Callable[[str, "Translation"], "Translation"]
"""From a line and its translation to a translation whose attention aligns them."""

_output_option = partial(typer.Option, rich_help_panel="Output")
_alignment_option = partial(typer.Option, rich_help_panel="Word alignments")


@dataclass(frozen=True)
class Outputs:
    """The files that translations go to; they are printed where neither a text nor pairs are asked for."""

    output: Annotated[Path | None, _output_option(help="Write translations to this file instead of printing them.")] = (
        None
    )
    nbest: Annotated[
        int,
        _output_option(min=0, metavar="N", help="Write the N best translations of each line: a Moses list, or --json."),
    ] = 0
    alignments: Annotated[
        Path | None,
        _alignment_option(help="Write word alignments to this file, one line per sentence (Pharaoh format)."),
    ] = None
    soft_alignments: Annotated[
        Path | None, _alignment_option(help="Write the attention between words to this file, as lines of JSON.")
    ] = None
    align_with: Annotated[
        Path | None, _alignment_option(metavar="RUN", help="Align by forced decoding with this translator instead.")
    ] = None
    pairs: Annotated[
        Path | None, _output_option(help="Write source, tab, translation to this .tsv file, to train on.")
    ] = None
    translation_first: Annotated[
        bool, _output_option("--translation-first", help="With --pairs: translation first, then source.")
    ] = False
    as_json: Annotated[
        bool, _output_option("--json", help="Print a JSON object per line, with its score and what it lost or added.")
    ] = False
    confidence: Annotated[
        bool,
        _output_option(
            "--confidence", help="Write the confidence before each translation; with --json of each word too."
        ),
    ] = False
    min_confidence: Annotated[
        float | None,
        _output_option(
            min=0, max=1, metavar="P", help="Leave what has a lower confidence empty; see anaphora calibrate."
        ),
    ] = None

    @property
    def judges(self) -> bool:
        """True if confidence is needed."""
        return self.confidence or self.min_confidence is not None

    @property
    def aligns(self) -> bool:
        """True if word alignments are written."""
        return self.alignments is not None or self.soft_alignments is not None

    @property
    def attention(self) -> bool:
        """True if alignments are the attention of the search."""
        return self.aligns and self.align_with is None

    conflicts: ClassVar = (
        Needs("--align-with", "--alignments --soft-alignments"),
        Needs("--translation-first", "--pairs"),
    )

    def aligner(self, translator: "TranslationPredictor", report: Report) -> Aligned:
        """Return a function that aligns translations; ConfigError where no attention does."""
        from anaphora.tasks.translation import NO_LINKS, load_together

        other = None if self.align_with is None else load_together([self.align_with], report=report)
        if self.aligns and not (other or translator).attends:
            raise ConfigError(NO_LINKS)
        # without tokens it was not searched: nothing can be seen of it, or it was refused
        return lambda line, found: other.aligned(line, found) if other and found.tokens else found

    def check(self, read: Sequence[Path | str | None]) -> None:
        """Raise ConfigError for files that cannot be written, or are two at once, and pairs that are no .tsv file."""
        files = {
            "--output": self.output,
            "--alignments": self.alignments,
            "--soft-alignments": self.soft_alignments,
            "--pairs": self.pairs,
        }
        check_writable(*files.values(), read=[*read, self.align_with])
        for (one, file), (another, other) in combinations(files.items(), 2):
            if file is not None and other is not None and file.absolute() == other.absolute():
                raise ConfigError(f"{one} and {another} should be two files, but both are {file}: name another.")
        if self.pairs is not None and not self.pairs.name.lower().removesuffix(".gz").endswith(".tsv"):
            raise ConfigError(
                f"--pairs should be a .tsv file, which training reads, but is {self.pairs}: name it {self.pairs}.tsv."
            )
        for option in {"--json", "--nbest", "--confidence"} & {*given_in(self)}:
            if self.pairs is not None and self.output is None:
                raise ConfigError(
                    f"{option} is for translations, but --pairs alone writes pairs: add --output, or leave it out."
                )

    def write(
        self,
        waiting: deque[str],
        translations: "Iterable[Translation]",
        report: Report,
        aligned: Aligned,
        model: str = "",
    ) -> None:
        """Write translations wherever they should go, as they come, and report what differs from the waiting lines.

        With the name of a ``model``, JSON says of each whether it comes from that or from its memory.
        """
        from anaphora.formats.json_text import figures_as_json
        from anaphora.formats.pharaoh import to_pharaoh
        from anaphora.text.tokenizer import MARKS, UNK

        count = unknown = fewer = unsure = single = 0
        losses = _Losses(report)
        with ExitStack() as files:
            texts = files.enter_context(writing(self.output)) if self.output or not self.pairs else None
            links, soft, pairs = (
                files.enter_context(writing(file)) if file else None
                for file in (self.alignments, self.soft_alignments, self.pairs)
            )
            for translation in translations:
                line = waiting.popleft()
                if translation.is_below(self.min_confidence):
                    translation = translation.withheld()
                    unsure += 1
                # what was refused or is left empty has lost nothing
                left = not translation.text and not translation.tokens
                differing = losses.of(line, line if left else translation.text)
                # alignments are one a line, and are read beside the pairs
                if pairs and (self.aligns or (line.strip() and translation.text.strip())):
                    sides = (translation.text, line) if self.translation_first else (line, translation.text)
                    pairs("\t".join(side.replace("\t", " ") for side in sides))
                else:
                    single += bool(pairs)
                if texts:
                    for written in self._lines(count, translation, differing, model):
                        texts(written)
                if self.aligns:
                    by = aligned(line, translation)
                    if links:
                        links(to_pharaoh(by.links()))
                    if soft:
                        soft(figures_as_json(by.soft_links().json()))
                count += 1
                unknown += MARKS[UNK] in translation.text
                fewer += bool(translation.tokens) and len(translation.alternatives) + 1 < self.nbest
        losses.close()
        if unsure:
            report(_unsure(unsure, count, self.min_confidence or 0.0))
        if fewer:
            report(_fewer(fewer, count, self.nbest))
        if single:
            was = agreeing(single, "without a translation were")
            report(Note(f"{counted(single, 'line')} {was} left out of {self.pairs}."))
        if self.pairs is not None and unknown:
            report(_unknown_in_pairs(unknown, count))

    def _lines(
        self, number: int, translation: "Translation", differing: "list[Difference]", model: str
    ) -> Iterable[str]:
        """Return the lines of translation ``number``, from 0."""
        from anaphora.formats.json_text import figures_as_json
        from anaphora.formats.nbest import moses_line

        if self.as_json:
            found = self._json(translation) | {"differences": [one._asdict() for one in differing]}
            if model:
                found |= translation.origin(model)
            if self.nbest:
                found["alternatives"] = [self._json(other) for other in translation.alternatives]
            return [figures_as_json(found)]
        if not self.nbest:
            return [f"{_rounded(translation.confidence)}\t{translation.text}" if self.confidence else translation.text]
        lines = []
        for one in (translation, *translation.alternatives):
            features = {"logprob": one.score, "tokens": one.tokens}
            if self.confidence and one.confidence is not None:
                features["confidence"] = one.confidence
            lines.append(moses_line(number, one.text, features, one.rank))
        return lines

    def _json(self, translation: "Translation") -> dict[str, Any]:
        found = {
            "text": translation.text,
            "score": translation.score,
            "rank": translation.rank,
            "finished": translation.finished,
            "unknown": translation.unknown,
        }
        judged = {"confidence": translation.confidence, "word_confidences": list(translation.word_confidences)}
        return found | judged if self.judges else found


_SHOWN = 10
"""Lines whose losses are reported one by one."""


class _Losses:
    """Lines whose numbers, addresses, placeholders or tags are not those of their translations."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lines = self._lossy = 0

    def of(self, line: str, translation: str) -> "list[Difference]":
        """Return the differences of the next line and its translation, and report the first ones."""
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
        if self._lossy > _SHOWN:
            self._report(
                Note(
                    f"{self._lossy:,} of {counted(self._lines, 'line')} differ from their translations in numbers, "
                    f"addresses, placeholders or tags: --json has them all.",
                    warning=True,
                )
            )


def _rounded(confidence: float | None) -> str:
    """Return a confidence as a column; empty for a line with nothing to translate."""
    return "" if confidence is None else f"{confidence:.4f}"


def _unsure(unsure: int, count: int, least: float) -> Note:
    """Return a note on lines that are left empty for their confidence."""
    was = agreeing(unsure, "were left empty")
    return Note(f"{unsure:,} of {counted(count, 'line')} {was}: their confidence is below {least:g}.", warning=True)


def _fewer(fewer: int, count: int, nbest: int) -> Note:
    """Return a note on lines with fewer hypotheses than were asked for."""
    return Note(
        f"{fewer:,} of {counted(count, 'line')} {agreeing(fewer, 'have')} fewer than {counted(nbest, 'translation')}, "
        f"since the search finished fewer that differ: a larger beam finds more.",
        warning=True,
    )


def _unknown_in_pairs(unknown: int, count: int) -> Note:
    """Return a note on training pairs with ``<unk>``, which training takes for any other text."""
    from anaphora.text.tokenizer import MARKS, UNK

    return Note(
        f"{unknown:,} of {counted(count, 'translation')} {agreeing(unknown, 'have')} {MARKS[UNK]} inside, which "
        f"training takes for text: --replace-unknown puts the source's words in its place, or leave those pairs out.",
        warning=True,
    )
