"""Verbs of ``anaphora inspect``: their options, and the results that they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from anaphora.cli.talk import say
from anaphora.errors import ConfigError, DataError
from anaphora.events import Report, silent
from anaphora.options import Option

if TYPE_CHECKING:
    from anaphora.inspection.subject import Subject


FOLLOWED = 20_000
"""Characters of a text in which cells are looked for that follow a property."""


@dataclass(frozen=True)
class Choices:
    """Texts, and options of single verbs."""

    text: Annotated[list[str] | None, Option("A text in place of a file; may be repeated.")] = None
    target_text: Annotated[list[str] | None, Option("Request translation of a --text; may be repeated.")] = None
    source: Annotated[Path | None, Option("File of source sentences (for a translator).")] = None
    target: Annotated[Path | None, Option("File of their translations, which are not searched.")] = None
    beam: Annotated[int | None, Option("Beam size; 1 is greedy search.", min=1, default="1; beam: 5")] = None
    fresh: Annotated[bool, Option("gradients: with the weights before training.")] = False
    blank: Annotated[bool, Option("explain: leave the answers out.")] = False
    cut_every: Annotated[int, Option("diagram: show where chunks of so many steps cut the gradient.", min=0)] = 0
    token: Annotated[int | None, Option("attribute: one output token, by number.", min=1)] = None
    instead: Annotated[str, Option("attribute: why --token, and not this one?", metavar="TOKEN")] = ""
    remedies: Annotated[bool, Option("gradients: train small networks with one remedy each, without a run.")] = False
    quick: Annotated[bool, Option("span: small networks, in minutes.")] = False
    output: Annotated[Path | None, Option("Write pictures and numbers here.", metavar="FOLDER")] = None


@dataclass(frozen=True)
class Request(Choices):
    """Options, texts and arguments of a verb."""

    words: Sequence[str] = ()
    """Arguments after the verb."""
    texts: Sequence[str] = ()
    targets: Sequence[str] | None = None
    from_file: bool = False
    report: Report = silent

    def one(self, verb: str) -> tuple[str, str | None]:
        """Return the one text, and its target; ConfigError where there are none or several."""
        if len(self.texts) != 1:
            raise ConfigError(f"inspect {verb} takes one text, but {len(self.texts):,} were given: add one --text.")
        return self.texts[0], self.targets[0] if self.targets else None

    def some(self, verb: str) -> Sequence[str]:
        """Return the texts; ConfigError where there are none."""
        if not self.texts:
            raise ConfigError(f"inspect {verb} takes a text: name a FILE, or add --text, or --source and --target.")
        return self.texts


Results = dict[str, Any]
"""Dataclasses with ``json()``, or several for one picture, by the names of their files."""


class Verb(NamedTuple):
    summary: str
    of_runs: "Callable[[Sequence[Subject], Request], Results] | None" = None
    lacks: "Callable[[Subject], str]" = lambda subject: ""
    several: bool = False
    """True if it takes several runs."""
    alone: Callable[[Request], Results] | None = None
    """Function without a run."""
    reads_file: "Callable[[Subject], bool]" = lambda subject: False
    """True if the verb reads FILE itself, since it has no lines."""
    takes: frozenset[str] = frozenset()
    """Options that have an effect with a run, by the names of their parameters."""
    takes_alone: frozenset[str] = frozenset()
    """The same without a run."""


_TEXT = frozenset({"text", "source"})
_PAIR = _TEXT | {"target_text", "target"}


def verbs() -> dict[str, Verb]:
    """Return every verb by name."""
    from anaphora.inspection import attention, attribution, context, embeddings, gates, length, neighbours, tree
    from anaphora.inspection.explain import LESSONS
    from anaphora.inspection.subject import Subject

    return {
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
            alone=_remedies,
            takes=_PAIR | {"fresh"},
            takes_alone=frozenset({"remedies"}),
        ),
        "attribute": Verb(
            "inputs that output tokens depend on",
            _attribute,
            attribution.lacks_attribution,
            takes=_PAIR | {"token", "instead"},
        ),
        "beam": Verb(
            "search tree of a sentence, or greedy against beam on a file",
            _beam,
            tree.lacks_search,
            takes=_TEXT | {"beam"},
        ),
        "neighbours": Verb(
            "training data nearest to each token", _neighbours, neighbours.lacks_neighbours, takes=_PAIR
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
        "explain": Verb(f"worked examples: {', '.join(LESSONS)}", alone=_explain, takes_alone=frozenset({"blank"})),
        "diagram": Verb(
            "picture of the steps of a recipe, or of the inside of a unit",
            alone=_diagram,
            takes_alone=frozenset({"cut_every"}),
        ),
    }


def _report(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.report import report

    return {"report": report(subjects[0], request.some("report"), request.targets, request.beam or 3)}


def _attention(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.attention import alignments, reads_vectors, vector_alignments

    if any(map(reads_vectors, subjects)):
        if not request.words:
            raise ConfigError("inspect attention of a transducer of strokes or vectors takes a FILE of them: name one.")
        found = vector_alignments(subjects, Path(request.words[0]), request.beam or 1)
    else:
        found = alignments(subjects, request.some("attention"), request.targets, request.beam or 1)
    return {"attention" if len(found) == 1 else f"attention-{number}": row for number, row in enumerate(found, 1)}


def _gates(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.gates import followers, gates, saturation

    [subject] = subjects
    if not request.from_file:
        return {"gates": gates(subject, *request.one("gates"))}
    shown: Results = {"saturation": saturation(subject, request.some("gates"))}
    if "target" not in subject.trained.tokenizers:
        whole = "\n".join(request.texts)[:FOLLOWED]
        try:
            shown["cells"] = followers(subject, whole)
        except DataError as error:
            say(f"Cells that follow a property are not shown: {error}")
    return shown


def _gradients(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.gradients import gradients

    return {"gradients": gradients(subjects[0], *request.one("gradients"), fresh=request.fresh)}


def _remedies(request: Request) -> Results:
    from anaphora.inspection.remedies import remedies

    if not request.remedies:
        raise ConfigError("inspect gradients takes a run: name its folder, or add --remedies, which needs none.")
    return {"remedies": remedies(report=request.report)}


def _span(request: Request) -> Results:
    from anaphora.inspection.span import PLANS, spans

    if request.output is None and not request.quick:
        raise ConfigError("inspect span takes hours, and goes on from what it finds in --output FOLDER: add that.")
    return {"span": spans(PLANS[request.quick], request.output, request.report)}


def _context(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.context import effective_context

    return {"context": effective_context(subjects[0], "\n".join(request.some("span")), report=request.report)}


def _attribute(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.attribution import attribution, token_attribution

    text, target = request.one("attribute")
    if request.token is None:
        return {"attribution": attribution(subjects[0], text, target)}
    found = token_attribution(subjects[0], text, target, token=request.token, instead=request.instead)
    return {f"token-{request.token}": found}


def _beam(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.tree import greedy_against_beam, tree

    size, texts = request.beam or 5, request.some("beam")
    if request.from_file:
        return {"greedy": greedy_against_beam(subjects[0], texts, size)}
    return {"beam": tree(subjects[0], request.one("beam")[0], size)}


def _neighbours(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.neighbours import neighbours

    return {"neighbours": neighbours(subjects[0], *request.one("neighbours"), report=request.report)}


def _length(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.length import by_lengths

    return {"length": by_lengths(subjects, request.some("length"), request.targets)}


def _embed(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.embeddings import sentence_projection, word_neighbours

    texts = request.some("embeddings")
    make = sentence_projection if request.from_file else word_neighbours
    return {"embeddings": make(subjects[0], texts)}


def _curves(subjects: "Sequence[Subject]", request: Request) -> Results:
    from anaphora.inspection.curves import curves

    return {"curves": curves([subject.trained.path for subject in subjects])}


def _explain(request: Request) -> Results:
    from anaphora.config import unknown
    from anaphora.inspection.explain import LESSONS

    if len(request.words) != 1:
        raise ConfigError(f"inspect explain takes one of {', '.join(LESSONS)}: name it.")
    [name] = request.words
    if name not in LESSONS:
        raise ConfigError(unknown("lesson", name, LESSONS))
    return {name: LESSONS[name]()}


def _diagram(request: Request) -> Results:
    from anaphora import recipes
    from anaphora.experiment.reading import read_experiment
    from anaphora.inspection.cell_diagram import cell_diagram, cells
    from anaphora.inspection.programs import diagrams, programs_of
    from anaphora.tasks.runs import experiment_of

    if len(request.words) != 1:
        raise ConfigError(
            "inspect diagram takes a recipe, a run or a unit: name one, as in anaphora inspect diagram luong2015."
        )
    [name] = request.words
    if name in cells():
        return {name: cell_diagram(name)}
    experiment = experiment_of(Path(name)) if Path(name).is_dir() else read_experiment(recipes.read(name), name)
    programs = programs_of(experiment)
    if not programs:
        raise ConfigError(f"{name} has no steps to draw: its network is not recurrent.")
    drawn = diagrams(Path(name).name, programs, request.cut_every)
    names = ["diagram", *(f"step-{number}" for number in range(1, len(drawn)))]
    return dict(zip(names, drawn, strict=True))
