"""Report of one run and one text: the results of most verbs, for one page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.errors import AnaphoraError, DataError
from anaphora.formats.json_text import Jsonable
from anaphora.inspection.attention import alignments
from anaphora.inspection.curves import curves
from anaphora.inspection.embeddings import tables_of, token_of, word_neighbours
from anaphora.inspection.gates import gates
from anaphora.inspection.gradients import gradients
from anaphora.inspection.length import by_lengths
from anaphora.inspection.subject import Subject
from anaphora.inspection.tree import tree

WORDS = 4
"""Words of the text whose neighbours are shown, at most."""


@dataclass(frozen=True)
class Section:
    """Results of one verb."""

    title: str
    lacks: str = ""
    """Reason that there are no results."""
    results: tuple[Any, ...] = ()
    """Results of the verb, one for each picture."""


@dataclass(frozen=True)
class Report(Jsonable):
    """Report of one run, verb by verb."""

    run: str
    text: str
    output: str
    """Translation of the text; empty for a run that does not translate."""
    sections: tuple[Section, ...]

    def __str__(self) -> str:
        lines = [f"{self.run}: {self.text}{f' -> {self.output}' if self.output else ''}"]
        for one in self.sections:
            lines += ["", one.title, *(map(str, one.results) if one.results else [f"  no: {one.lacks}"])]
        return "\n".join(lines)


def report(subject: Subject, texts: Sequence[str], targets: Sequence[str] | None = None, beam: int = 3) -> Report:
    """Return attention, gradients, gates and the search of the first text, scores by length of all, words and curves.

    ``targets`` are the references of translators. What the run does not support, and what fails, is a sentence in the
    place of a picture. Raises DataError for no text.
    """
    if not texts:
        raise DataError("A report takes a text, but there are no lines: give one that has some.")
    text, target = texts[0], targets[0] if targets else None
    verbs: dict[str, Callable[[], Sequence[Any]]] = {
        "Attention": lambda: alignments([subject], [text], None if target is None else [target])[0],
        "Gradients": lambda: [gradients(subject, text, target)],
        "Gates": lambda: [gates(subject, text, target)],
        "Beam search": lambda: [tree(subject, text, beam)],
        "Scores by length": lambda: by_lengths([subject], texts, targets),
        "Embeddings": lambda: [word_neighbours(subject, _known_words(subject, text))],
        "Training curves": lambda: curves([subject.trained.path]),
    }
    translates = "target" in subject.trained.tokenizers and hasattr(subject.predictor, "translate")
    output = subject.predictor.translate([text], beam=beam, protect=())[0].text if translates else ""
    return Report(subject.name, text, output, tuple(_section(title, find) for title, find in verbs.items()))


def _section(title: str, find: Callable[[], Sequence[Any]]) -> Section:
    try:
        return Section(title, results=tuple(find()))
    except AnaphoraError as error:
        return Section(title, str(error))


def _known_words(subject: Subject, text: str) -> list[str]:
    """Return the longest words of a text that are tokens of their own; DataError for none."""
    [side, *_] = [*tables_of(subject), ""]
    if not side:
        return []
    words = sorted(dict.fromkeys(text.split()), key=len, reverse=True)
    found = [word for word in words if token_of(subject, side, word) is not None]
    if not found:
        raise DataError("No word of the text is one token.")
    return found[:WORDS]
