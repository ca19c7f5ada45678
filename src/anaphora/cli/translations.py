"""The files that ``anaphora translate`` writes: texts, n-best lists, word alignments and pairs."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from anaphora.cli.files import check_writable, writing
from anaphora.cli.tables import changed_options
from anaphora.errors import ConfigError
from anaphora.events import Note, Report
from anaphora.formats.json_text import attributes, figures_as_json
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.options import Needs, Option
from anaphora.wording import agreeing, inflect

if TYPE_CHECKING:
    from anaphora.tasks.translation.predictor import TranslationPredictor
    from anaphora.tasks.translation.translation import Translation
    from anaphora.text.quality import Difference

FOR_LINES = "--nbest --alignments --soft-alignments --pairs --json --confidence --prefixes --suffixes"
"""Options for lines of text, which neither documents nor workers have."""

Aligned = Callable[[str, "Translation"], "Translation"]
"""Function from a line and its translation to a translation whose attention aligns them."""

_SHOWN = 10
"""Lines whose losses are reported one by one."""


@dataclass(frozen=True)
class Outputs:
    """The files that translations go to; they are printed where neither a text nor pairs are asked for."""

    heading: ClassVar = "Output"

    output: Annotated[Path | None, Option("Write translations to this file instead of printing them.")] = None
    nbest: Annotated[int, Option("Write the N best translations, as a Moses list or --json.", min=0, metavar="N")] = 0
    alignments: Annotated[
        Path | None, Option("Write word alignments here, a line per sentence (Pharaoh).", heading="Word alignments")
    ] = None
    soft_alignments: Annotated[
        Path | None, Option("Write attention between words here, as lines of JSON.", heading="Word alignments")
    ] = None
    align_with: Annotated[
        Path | None, Option("Align by forced decoding with this translator.", metavar="RUN", heading="Word alignments")
    ] = None
    pairs: Annotated[Path | None, Option("Write source, tab, translation to this .tsv file, to train on.")] = None
    translation_first: Annotated[bool, Option("With --pairs: translation first, then source.")] = False
    as_json: Annotated[bool, Option("Print JSON per line: its score, what it lost or added.", name="--json")] = False
    confidence: Annotated[bool, Option("Write the confidence before each translation; --json: of words too.")] = False
    min_confidence: Annotated[
        float | None,
        Option("Leave what has a lower confidence empty; see anaphora calibrate.", min=0, max=1, metavar="P"),
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
        from anaphora.tasks.runs import load
        from anaphora.tasks.translation.predictor import TranslationPredictor
        from anaphora.tasks.translation.translation import NO_LINKS

        other = None if self.align_with is None else load(self.align_with, kind=TranslationPredictor, report=report)
        other = other.with_languages(translator.languages[1]) if other and other.directions else other
        if self.aligns and not (other or translator).attends:
            raise ConfigError(NO_LINKS)
        # without tokens it was not searched: nothing can be seen of it, or it was refused
        return lambda line, found: other.align_translation(line, found) if other and found.tokens else found

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
            raise ConfigError(f"--pairs should be a .tsv file, but is {self.pairs}: name it {self.pairs}.tsv.")
        for option in sorted({"--json", "--nbest", "--confidence"} & {*changed_options(self)}):
            if self.pairs is not None and self.output is None:
                raise ConfigError(f"{option} is for translations, not for --pairs: add --output, or leave it out.")

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
        from anaphora.text.quality import differences
        from anaphora.text.tokenizer import MARKS, UNK

        count = 0
        found = Counter[str]()
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
                    found["unsure"] += 1
                # what was refused or is left empty has lost nothing
                left = not translation.text and not translation.tokens
                differing = [] if left else [*differences(line, translation.text.replace(MARKS[UNK], " "))]
                found["lossy"] += bool(differing)
                if differing and found["lossy"] <= _SHOWN:
                    what = "; ".join(f"{one.kind} ({one})" for one in differing)
                    report(Note(f"line {count + 1} and its translation differ in {what}", warning=True))
                for term in translation.missing_terms:
                    report(Note(f"line {count + 1} lacks the term for '{term}': no word has its place", warning=True))
                # alignments are one a line, and are read beside the pairs
                if pairs and (self.aligns or (line.strip() and translation.text.strip())):
                    sides = (translation.text, line) if self.translation_first else (line, translation.text)
                    pairs("\t".join(side.replace("\t", " ") for side in sides))
                else:
                    found["single"] += bool(pairs)
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
                found["unknown"] += MARKS[UNK] in translation.text
                found["fewer"] += bool(translation.tokens) and len(translation.alternatives) + 1 < self.nbest
        self._report(found, count, report)

    def _report(self, found: Counter[str], count: int, report: Report) -> None:
        """Report the lines, of ``count``, that differ, have less than was asked for, or are no good pairs."""
        from anaphora.text.tokenizer import MARKS, UNK

        of_all = f"of {inflect(count, 'line')}"
        if (lossy := found["lossy"]) > _SHOWN:
            differ = "differ from their translations in numbers, addresses, placeholders or tags"
            report(Note(f"{lossy:,} {of_all} {differ}: --json has them all.", warning=True))
        if unsure := found["unsure"]:
            was = agreeing(unsure, "were left empty")
            report(Note(f"{unsure:,} {of_all} {was}: their confidence is below {self.min_confidence:g}.", warning=True))
        if fewer := found["fewer"]:
            have = f"{agreeing(fewer, 'have')} fewer than {inflect(self.nbest, 'translation')}"
            why = "since the search finished fewer that differ: a larger beam finds more"
            report(Note(f"{fewer:,} {of_all} {have}, {why}.", warning=True))
        if single := found["single"]:
            report(Note(f"{inflect(single, 'line', 'without a translation were')} left out of {self.pairs}."))
        if self.pairs is not None and (unknown := found["unknown"]):
            have = f"{inflect(count, 'translation')} {agreeing(unknown, 'have')} {MARKS[UNK]} inside"
            remedy = "--replace-unknown puts the source's words in its place, or leave those pairs out"
            report(Note(f"{unknown:,} of {have}, which training takes for text: {remedy}.", warning=True))

    def _lines(
        self, number: int, translation: "Translation", differing: "list[Difference]", model: str
    ) -> Iterable[str]:
        """Return the lines of translation ``number``, from 0."""
        from anaphora.formats.nbest import moses_line

        if self.as_json:
            found = self._json(translation) | {"differences": [one._asdict() for one in differing]}
            if model:
                found |= translation.origin(model)
            if self.nbest:
                found["alternatives"] = [self._json(other) for other in translation.alternatives]
            return [figures_as_json(found)]
        if not self.nbest:
            sure = "" if translation.confidence is None else f"{translation.confidence:.4f}"
            return [f"{sure}\t{translation.text}" if self.confidence else translation.text]
        lines = []
        for one in (translation, *translation.alternatives):
            features = {"logprob": one.score, "tokens": one.tokens}
            if self.confidence and one.confidence is not None:
                features["confidence"] = one.confidence
            lines.append(moses_line(number, one.text, features, one.rank))
        return lines

    def _json(self, translation: "Translation") -> dict[str, Any]:
        found = attributes(translation, "text", "score", "rank", "finished", "unknown")
        judged = {"confidence": translation.confidence, "word_confidences": list(translation.word_confidences)}
        if translation.missing_terms:
            found["missing_terms"] = translation.missing_terms
        return found | judged if self.judges else found
