"""Verbs of ``anaphora inspect``, and the results that they show. Imported when one is asked for."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anaphora import recipes
from anaphora.cli.progress import clock
from anaphora.cli.talk import say
from anaphora.config import parse
from anaphora.errors import ConfigError, DataError
from anaphora.events import Report
from anaphora.experiment.overrides import override
from anaphora.experiment.reading import read_experiment
from anaphora.inspection import (
    attention,
    attribution,
    context,
    curves,
    embeddings,
    gates,
    gradients,
    length,
    neighbours,
    report,
    span,
    tree,
)
from anaphora.inspection.cell_diagram import cell_diagram
from anaphora.inspection.explain.lesson import LESSONS, lesson
from anaphora.inspection.programs import diagrams
from anaphora.inspection.remedies import remedies as of_remedies
from anaphora.inspection.subject import Subject
from anaphora.kernels.cells import CELLS
from anaphora.tasks.runs import experiment_of

if TYPE_CHECKING:
    from anaphora.cli.inspect import Results

ASKED = 50_000_000
"""Bytes of an index from which on a person at a terminal is asked."""
FOLLOWED = 20_000
"""Characters of a text in which cells are looked for that follow a property."""

Subjects = Sequence[Subject]
Texts = Sequence[str]


class Verb(NamedTuple):
    """Functions of a verb, whose parameters are the options that have an effect: see ``Request.call``."""

    summary: str
    find: Callable[..., Any] | None = None
    """Function of a run, or of several where it has ``subjects``."""
    lacks: Callable[[Subject], str] = lambda subject: ""
    of_file: Callable[..., Any] | None = None
    """Function of a whole file of texts, where it is another one."""
    alone: Callable[..., Any] | None = None
    """Function without a run."""
    of_vectors: Callable[..., Any] | None = None
    """Function of a FILE of strokes or vectors, for runs that read them."""


def _attention(subjects: Subjects, texts: Texts, targets: Texts | None = None, beam: int = 1) -> "Results":
    return _numbered(attention.alignments(subjects, texts, targets, beam))


def _attention_of_vectors(subjects: Subjects, words: Texts, beam: int = 1) -> "Results":
    if not words:
        raise ConfigError("inspect attention of a transducer of strokes or vectors takes a FILE of them: name one.")
    return _numbered(attention.vector_alignments(subjects, Path(words[0]), beam))


def _numbered(found: Sequence[Any]) -> "Results":
    return {"attention" if len(found) == 1 else f"attention-{number}": row for number, row in enumerate(found, 1)}


def _saturation(subject: Subject, texts: Texts) -> "Results":
    shown: Results = {"saturation": gates.saturation(subject, texts)}
    if "target" not in subject.trained.tokenizers:
        try:
            shown["cells"] = gates.followers(subject, "\n".join(texts)[:FOLLOWED])
        except DataError as error:
            say(f"Cells that follow a property are not shown: {error}")
    return shown


def _gradients(subjects: Subjects, text: str, target: str | None = None, fresh: bool = False) -> Any:
    found = [gradients.gradients(one, text, target, fresh=fresh) for one in subjects]
    return found if len(found) > 1 else found[0]


def _remedies(remedies: bool, report: Report) -> "Results":
    if not remedies:
        raise ConfigError("inspect gradients takes a run: name its folder, or add --remedies, which needs none.")
    return {"remedies": of_remedies(report=report)}


def _span(quick: bool, report: Report, output: Path | None = None) -> Any:
    if output is None and not quick:
        raise ConfigError("inspect span takes hours, and goes on from what it finds in --output FOLDER: add that.")
    return span.spans(span.QUICK if quick else span.FULL, output, report)


def _context(subject: Subject, texts: Texts, report: Report) -> "Results":
    return {"context": context.effective_context(subject, "\n".join(texts), report=report)}


def _attribute(
    subject: Subject,
    text: str,
    target: str | None = None,
    token: int | None = None,
    instead: str = "",
    points: int = attribution.STEPS,
) -> "Results":
    if token is None:
        return {"attribution": attribution.attribution(subject, text, target)}
    found = attribution.token_attribution(subject, text, target, token=token, instead=instead, steps=points)
    return {f"token-{token}": found}


def _greedy(subject: Subject, texts: Texts, beam: int = 5) -> "Results":
    return {"greedy": tree.greedy_against_beam(subject, texts, beam)}


def _neighbours(subject: Subject, text: str, yes: bool, report: Report, target: str | None = None) -> Any:
    def confirm(size: int, seconds: float) -> bool:
        say(f"An index of {size / 1e6:,.0f} MB is written to {subject.name}; that takes about {clock(seconds)}.")
        if yes or size < ASKED or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return True
        say("Go on? [y/N]")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return neighbours.neighbours(subject, text, target, report=report, confirm=confirm)


def _curves(subjects: Subjects) -> Any:
    return curves.curves([subject.trained.path for subject in subjects])


def _explain(words: Texts, blank: bool, seed: int | None = None) -> "Results":
    name, *settings = words or [""]
    if not name or not all("=" in one for one in settings):
        raise ConfigError(f"inspect explain takes one of {', '.join(LESSONS)}, perhaps with numbers: name it.")
    found = lesson(name, override({}, settings), seed)
    return {name if seed is None else f"{name}-{seed}": replace(found, blank=blank)}


def _diagram(words: Texts, cut_every: int) -> "Results":
    name, *settings = words or [""]
    if not name or not all("=" in one for one in settings):
        raise ConfigError("inspect diagram takes a recipe, a run or a unit, perhaps with options: name one.")
    if name in CELLS:
        return {f"diagram-{name}": cell_diagram(name, parse(CELLS[name], override({}, settings), name))}
    folder = Path(name)
    if settings and folder.is_dir():
        raise ConfigError(f"{name} is a run, whose options are fixed: leave {settings[0]} out.")
    experiment = experiment_of(folder) if folder.is_dir() else read_experiment(recipes.read(name), name, settings)
    drawn = diagrams(folder.name, experiment, cut_every)
    if not drawn:
        raise ConfigError(f"{name} has no steps to draw: its network is not recurrent.")
    return {f"diagram-{folder.name}" + f"-step-{n}" * (n > 0): one for n, one in enumerate(drawn)}


VERBS = {
    "attention": Verb(
        "alignment of a translation, or of strokes and their text",
        _attention,
        attention.lacks_attention,
        of_vectors=_attention_of_vectors,
    ),
    "gates": Verb("gates over a sentence, or over a whole file", gates.gates, gates.lacks_gates, _saturation),
    "gradients": Verb("how far gradients reach back", _gradients, Subject.lacks_layers, alone=_remedies),
    "attribute": Verb("inputs that output tokens depend on", _attribute, attribution.lacks_attribution),
    "beam": Verb("search tree of a sentence, or greedy against beam on a file", tree.tree, tree.lacks_search, _greedy),
    "neighbours": Verb("training data nearest to each token", _neighbours, neighbours.lacks_neighbours),
    "length": Verb("loss and BLEU by length", length.by_lengths, length.lacks_lengths),
    "embeddings": Verb(
        "neighbours of words, map of words or sentences",
        embeddings.word_neighbours,
        embeddings.lacks_embeddings,
        embeddings.sentence_projection,
    ),
    "span": Verb(
        "memory span of recurrent layers, or of a language model", _context, context.lacks_context, alone=_span
    ),
    "curves": Verb("training curves", _curves),
    "report": Verb("most of these on one HTML page", report.report),
    "explain": Verb(f"worked examples: {', '.join(LESSONS)}", alone=_explain),
    "diagram": Verb("picture of the steps of a recipe, or of the inside of a unit", alone=_diagram),
}
