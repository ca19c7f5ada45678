"""Verbs of ``anaphora inspect``, and the results that they show. Imported when one is asked for."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from anaphora import recipes
from anaphora.cli.progress import clock
from anaphora.cli.talk import say
from anaphora.config import parse
from anaphora.errors import ConfigError, DataError
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
    remedies,
    report,
    span,
    tree,
)
from anaphora.inspection.cell_diagram import cell_diagram
from anaphora.inspection.explain.lesson import LESSONS, lesson
from anaphora.inspection.programs import diagrams
from anaphora.inspection.subject import Subject
from anaphora.kernels.cells import CELLS
from anaphora.tasks.runs import experiment_of

if TYPE_CHECKING:
    from anaphora.cli.inspect import Request

ASKED = 50_000_000
"""Bytes of an index from which on a person at a terminal is asked."""
FOLLOWED = 20_000
"""Characters of a text in which cells are looked for that follow a property."""

Results = dict[str, Any]
"""Dataclasses with ``json()``, or several for one picture, by the names of their files."""


class Verb(NamedTuple):
    summary: str
    of_runs: "Callable[[Sequence[Subject], Request], Results] | None" = None
    lacks: Callable[[Subject], str] = lambda subject: ""
    several: bool = False
    """True if it takes several runs."""
    alone: "Callable[[Request], Results] | None" = None
    """Function without a run."""
    reads_file: Callable[[Subject], bool] = lambda subject: False
    """True if the verb reads FILE itself, since it has no lines."""
    takes: frozenset[str] = frozenset()
    """Options that have an effect with a run, by the names of their parameters."""
    takes_alone: frozenset[str] = frozenset()
    """The same without a run."""


def _report(subjects: Sequence[Subject], request: "Request") -> Results:
    return {"report": report.report(subjects[0], request.some("report"), request.targets, request.beam or 3)}


def _attention(subjects: Sequence[Subject], request: "Request") -> Results:
    if any(map(attention.reads_vectors, subjects)):
        if not request.words:
            raise ConfigError("inspect attention of a transducer of strokes or vectors takes a FILE of them: name one.")
        found = attention.vector_alignments(subjects, Path(request.words[0]), request.beam or 1)
    else:
        found = attention.alignments(subjects, request.some("attention"), request.targets, request.beam or 1)
    return {"attention" if len(found) == 1 else f"attention-{number}": row for number, row in enumerate(found, 1)}


def _gates(subjects: Sequence[Subject], request: "Request") -> Results:
    [subject] = subjects
    if not request.from_file:
        return {"gates": gates.gates(subject, *request.one("gates"))}
    shown: Results = {"saturation": gates.saturation(subject, request.some("gates"))}
    if "target" not in subject.trained.tokenizers:
        whole = "\n".join(request.texts)[:FOLLOWED]
        try:
            shown["cells"] = gates.followers(subject, whole)
        except DataError as error:
            say(f"Cells that follow a property are not shown: {error}")
    return shown


def _gradients(subjects: Sequence[Subject], request: "Request") -> Results:
    found = [gradients.gradients(one, *request.one("gradients"), fresh=request.fresh) for one in subjects]
    return {"gradients": found if len(found) > 1 else found[0]}


def _remedies(request: "Request") -> Results:
    if not request.remedies:
        raise ConfigError("inspect gradients takes a run: name its folder, or add --remedies, which needs none.")
    return {"remedies": remedies.remedies(report=request.report)}


def _span(request: "Request") -> Results:
    if request.output is None and not request.quick:
        raise ConfigError("inspect span takes hours, and goes on from what it finds in --output FOLDER: add that.")
    return {"span": span.spans(span.PLANS[request.quick], request.output, request.report)}


def _context(subjects: Sequence[Subject], request: "Request") -> Results:
    return {"context": context.effective_context(subjects[0], "\n".join(request.some("span")), report=request.report)}


def _attribute(subjects: Sequence[Subject], request: "Request") -> Results:
    text, target = request.one("attribute")
    if request.token is None:
        return {"attribution": attribution.attribution(subjects[0], text, target)}
    steps = request.points or attribution.STEPS
    found = attribution.token_attribution(
        subjects[0], text, target, token=request.token, instead=request.instead, steps=steps
    )
    return {f"token-{request.token}": found}


def _beam(subjects: Sequence[Subject], request: "Request") -> Results:
    size, texts = request.beam or 5, request.some("beam")
    if request.from_file:
        return {"greedy": tree.greedy_against_beam(subjects[0], texts, size)}
    return {"beam": tree.tree(subjects[0], request.one("beam")[0], size)}


def _neighbours(subjects: Sequence[Subject], request: "Request") -> Results:
    def confirm(size: int, seconds: float) -> bool:
        say(f"An index of {size / 1e6:,.0f} MB is written to {subjects[0].name}; that takes about {clock(seconds)}.")
        if request.yes or size < ASKED or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return True
        say("Go on? [y/N]")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    found = neighbours.neighbours(subjects[0], *request.one("neighbours"), report=request.report, confirm=confirm)
    return {"neighbours": found}


def _length(subjects: Sequence[Subject], request: "Request") -> Results:
    return {"length": length.by_lengths(subjects, request.some("length"), request.targets)}


def _embed(subjects: Sequence[Subject], request: "Request") -> Results:
    texts = request.some("embeddings")
    make = embeddings.sentence_projection if request.from_file else embeddings.word_neighbours
    return {"embeddings": make(subjects[0], texts)}


def _curves(subjects: Sequence[Subject], request: "Request") -> Results:
    return {"curves": curves.curves([subject.trained.path for subject in subjects])}


def _explain(request: "Request") -> Results:
    name, *settings = request.words or [""]
    if not name or not all("=" in one for one in settings):
        raise ConfigError(f"inspect explain takes one of {', '.join(LESSONS)}, perhaps with numbers: name it.")
    stem = name if request.seed is None else f"{name}-{request.seed}"
    return {stem: lesson(name, override({}, settings), request.seed)}


def _diagram(request: "Request") -> Results:
    name, *settings = request.words or [""]
    if not name or not all("=" in one for one in settings):
        raise ConfigError(
            "inspect diagram takes a recipe, a run or a unit, perhaps with options: name one, as in anaphora inspect "
            "diagram luong2015, or anaphora inspect diagram gru reset=before."
        )
    if name in CELLS:
        return {f"diagram-{name}": cell_diagram(name, parse(CELLS[name], override({}, settings), name))}
    if settings and Path(name).is_dir():
        raise ConfigError(f"{name} is a run, whose options are fixed: leave {settings[0]} out.")
    experiment = (
        experiment_of(Path(name)) if Path(name).is_dir() else read_experiment(recipes.read(name), name, settings)
    )
    drawn = diagrams(Path(name).name, experiment, request.cut_every)
    if not drawn:
        raise ConfigError(f"{name} has no steps to draw: its network is not recurrent.")
    names = [f"diagram-{Path(name).name}" + (f"-step-{number}" if number else "") for number in range(len(drawn))]
    return dict(zip(names, drawn, strict=True))


_TEXT = frozenset({"text", "source", "to"})
_PAIR = _TEXT | {"target_text", "target"}
VERBS = {
    "attention": Verb(
        "alignment of a translation, or of strokes and their text",
        _attention,
        attention.lacks_attention,
        True,
        takes=_PAIR | {"beam"},
        reads_file=attention.reads_vectors,
    ),
    "gates": Verb("gates over a sentence, or over a whole file", _gates, gates.lacks_gates, takes=_PAIR),
    "gradients": Verb(
        "how far gradients reach back",
        _gradients,
        Subject.lacks_layers,
        True,
        alone=_remedies,
        takes=_PAIR | {"fresh"},
        takes_alone=frozenset({"remedies"}),
    ),
    "attribute": Verb(
        "inputs that output tokens depend on",
        _attribute,
        attribution.lacks_attribution,
        takes=_PAIR | {"token", "instead", "points"},
    ),
    "beam": Verb(
        "search tree of a sentence, or greedy against beam on a file", _beam, tree.lacks_search, takes=_TEXT | {"beam"}
    ),
    "neighbours": Verb(
        "training data nearest to each token", _neighbours, neighbours.lacks_neighbours, takes=_PAIR | {"yes"}
    ),
    "length": Verb("loss and BLEU by length", _length, length.lacks_lengths, True, takes=_PAIR),
    "embeddings": Verb(
        "neighbours of words, map of words or sentences", _embed, embeddings.lacks_embeddings, takes=_TEXT
    ),
    "span": Verb(
        "memory span of recurrent layers, or of a language model",
        _context,
        context.lacks_context,
        alone=_span,
        takes=_TEXT,
        takes_alone=frozenset({"quick"}),
    ),
    "curves": Verb("training curves", _curves, several=True, reads_file=lambda subject: True),
    "report": Verb("most of these on one HTML page", _report, takes=_PAIR | {"beam"}),
    "explain": Verb(f"worked examples: {', '.join(LESSONS)}", alone=_explain, takes_alone=frozenset({"blank", "seed"})),
    "diagram": Verb(
        "picture of the steps of a recipe, or of the inside of a unit",
        alone=_diagram,
        takes_alone=frozenset({"cut_every"}),
    ),
}
