"""``anaphora inspect``: see inside of runs; numbers as text or JSON, pictures into a folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from anaphora.cli.files import given_texts, named
from anaphora.cli.options import Json, Threads, use_threads
from anaphora.cli.talk import say
from anaphora.errors import ConfigError, DataError
from anaphora.wording import counted

if TYPE_CHECKING:
    from anaphora.inspection.subject import Subject

EXAMPLES = (
    "anaphora inspect runs/en-de",
    'anaphora inspect runs/en-de attention --text "A man is walking." --output pictures',
    "anaphora inspect runs/small runs/large attention --source test.en --target test.de --output pictures",
    "anaphora inspect runs/en-de-1 runs/en-de-2 curves --output pictures",
    "anaphora inspect runs/en-de embeddings --text man --text dog",
    "anaphora inspect runs/en-de length --source test.en --target test.de",
    'anaphora inspect runs/book gates --text "the man walks" --output pictures',
    "anaphora inspect runs/book gates book.txt",
    'anaphora inspect runs/book gradients --text "the man walks" --output pictures',
    'anaphora inspect runs/en-de attribute --text "A man is walking." --token 2 --instead Frau',
    'anaphora inspect runs/en-de beam --text "A man is walking." --beam 3',
    "anaphora inspect runs/en-de beam test.en --beam 5 --json",
    "anaphora inspect explain lstm",
    "anaphora inspect explain bptt --blank --output lesson",
    "anaphora inspect diagram bahdanau2015 --output pictures",
)

NO_RUN = ("explain", "diagram")
"""Verbs that take no run, but the name of a lesson, recipe or run."""


@dataclass(frozen=True)
class _Given:
    """What a verb was given beside its runs."""

    words: Sequence[str]
    """The arguments after the verb."""
    texts: Sequence[str]
    targets: Sequence[str] | None
    from_file: bool
    beam: int | None
    fresh: bool
    blank: bool
    cut_every: int
    token: int | None
    instead: str

    def one(self, verb: str) -> tuple[str, str | None]:
        """The one text, and its target; ConfigError where there are none or several."""
        if len(self.texts) != 1:
            raise ConfigError(f"inspect {verb} takes one text, but {len(self.texts):,} were given: add one --text.")
        return self.texts[0], self.targets[0] if self.targets else None

    def some(self, verb: str) -> Sequence[str]:
        """The texts; ConfigError where there are none."""
        if not self.texts:
            raise ConfigError(f"inspect {verb} takes a text: name a FILE, or add --text, or --source and --target.")
        return self.texts


class _Shown(NamedTuple):
    """A result, and the name of its files."""

    stem: str
    result: Any
    """A dataclass that knows ``json()``, or several for one picture."""


class _Verb(NamedTuple):
    summary: str
    show: "Callable[[Sequence[Subject], _Given], Sequence[_Shown]]"
    lacks: "Callable[[Subject], str]"
    several: bool = False
    """Whether it takes several runs."""


def run(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN...] [VERB] [FILE|-]", help="Run folders, what to look at, and a text."),
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option("--text", help="A text in place of a file; may be repeated.")
    ] = None,
    target_text: Annotated[
        list[str] | None, typer.Option("--target-text", help="Given translation of a --text; may be repeated.")
    ] = None,
    source: Annotated[Path | None, typer.Option(help="File of source sentences (for a translator).")] = None,
    target: Annotated[Path | None, typer.Option(help="File of their translations, which are not searched.")] = None,
    beam: Annotated[
        int | None, typer.Option(min=1, help="Beam size; 1 is greedy search. [default: 1; beam: 5]")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="gradients: with the weights before training.")] = False,
    blank: Annotated[bool, typer.Option("--blank", help="explain: leave the answers out.")] = False,
    cut_every: Annotated[
        int, typer.Option("--cut-every", min=0, help="diagram: show where chunks of so many steps cut the gradient.")
    ] = 0,
    token: Annotated[int | None, typer.Option(min=1, help="attribute: one output token, by number.")] = None,
    instead: Annotated[str, typer.Option(metavar="TOKEN", help="attribute: why --token, and not this one?")] = "",
    output: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write pictures and numbers here.")] = None,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Show attention, gates, gradients and beams of runs, or explain the parts."""
    words = list(arguments or [])
    verbs = _verbs()
    place = next((n for n, word in enumerate(words) if word in (*verbs, *NO_RUN)), len(words))
    runs, verb, rest = words[:place], words[place : place + 1], words[place + 1 :]
    use_threads(threads)
    if not verb:
        _list(runs, verbs)
        return
    if instead and token is None:
        raise ConfigError("--instead is compared with a token of the output: add --token with its number.")
    asked = _Given(rest, (), None, False, beam, fresh, blank, cut_every, token, instead)
    given = _with_texts(asked, text, target_text, source, target)
    if verb[0] in NO_RUN:
        if runs:
            raise ConfigError(f"inspect {verb[0]} takes no run: leave {runs[0]} out.")
        shown = _explain(given) if verb[0] == "explain" else _diagram(given)
    else:
        shown = _of_runs(verbs[verb[0]], verb[0], runs, given)
    _print(shown, given, as_json)
    if output is not None:
        _write(shown, given, output)


def _with_texts(
    given: _Given, text: list[str] | None, target_text: list[str] | None, source: Path | None, target: Path | None
) -> _Given:
    """The texts of options or files; ConfigError for two kinds at once, DataError for an empty file."""
    file = given.words[0] if given.words and text is None and source is None else None
    if (text is not None) + (source is not None) + (len(given.words) > 0) > 1:
        raise ConfigError("A FILE, --text and --source are three ways to give a text: give one of them.")
    if (target is not None and source is None) or (target_text is not None and text is None):
        raise ConfigError("A target belongs to a source: give --source with --target, or --text with --target-text.")
    targets: list[str] | None = target_text
    if source is not None:
        texts, targets = _lines(str(source)), None if target is None else _lines(str(target))
    elif text is not None:
        texts = list(text)
    else:
        return replace(given, from_file=file is not None)
    if targets is not None and len(targets) != len(texts):
        raise DataError(
            f"There are {counted(len(texts), 'text')} but {counted(len(targets), 'target')}: give as many of both."
        )
    return replace(given, texts=texts, targets=targets, from_file=source is not None)


def _lines(file: str) -> list[str]:
    lines = list(given_texts(file))
    if not lines:
        raise DataError(f"{named(file)} has no lines, but there should be at least one: give another file.")
    return lines


def _of_runs(verb: _Verb, name: str, runs: Sequence[str], given: _Given) -> Sequence[_Shown]:
    """What a verb shows of runs, which are opened; ConfigError for a number of them that it does not take."""
    if not runs:
        raise ConfigError(f"inspect {name} takes a run: name its folder, as in anaphora inspect runs/mine {name}.")
    if len(runs) > 1 and not verb.several:
        raise ConfigError(f"inspect {name} takes one run, but {len(runs)} were given: name one.")
    if len(given.words) > 1:
        raise ConfigError(f"inspect {name} takes one file, but {len(given.words)} were given: name one.")
    if given.words and name != "curves":
        given = replace(given, texts=_lines(given.words[0]), from_file=True)
    return verb.show([_opened(run) for run in runs], given)


def _opened(run: str) -> "Subject":
    from anaphora.inspection.subject import Subject

    return Subject.open(run)


def _verbs() -> dict[str, _Verb]:
    """Everything that is shown of runs."""
    from anaphora.inspection import attention, attribution, embeddings, gates, length, tree
    from anaphora.inspection.subject import Subject

    return {
        "attention": _Verb("alignment of a translation", _attention, attention.lacks_attention, True),
        "gates": _Verb("gates over a sentence, or over a whole file", _gates, gates.lacks_gates),
        "gradients": _Verb("how far gradients reach back", _gradients, Subject.lacks_layers),
        "attribute": _Verb("inputs that output tokens depend on", _attribute, attribution.lacks_attribution),
        "beam": _Verb("search tree of a sentence, or greedy against beam on a file", _beam, tree.lacks_search),
        "length": _Verb("loss and BLEU by length", _length, length.lacks_lengths, True),
        "embeddings": _Verb("neighbours of words, map of words or sentences", _embed, embeddings.lacks_embeddings),
        "curves": _Verb("training curves", _curves, lambda subject: "", True),
    }


def _list(runs: Sequence[str], verbs: dict[str, _Verb]) -> None:
    """What can be shown, of one run or at all."""
    if len(runs) > 1:
        known = ", ".join((*verbs, *NO_RUN))
        raise ConfigError(f"'{runs[-1]}' is nothing that can be shown. Known: {known}.")
    subject = _opened(runs[0]) if runs else None
    for name, verb in verbs.items():
        why = verb.lacks(subject) if subject else ""
        typer.echo(f"{name:<12} {f'no: {why}' if why else verb.summary}")
    if not subject:
        typer.echo(f"{'explain':<12} worked examples: {', '.join(_lessons())}")
        typer.echo(f"{'diagram':<12} picture of the steps of a recipe")


def _attention(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.attention import alignments

    found = alignments(subjects, given.some("attention"), given.targets, given.beam or 1)
    return [
        _Shown("attention" if len(found) == 1 else f"attention-{number}", row) for number, row in enumerate(found, 1)
    ]


def _gates(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.gates import followers, gates, saturation

    [subject] = subjects
    if not given.from_file:
        return [_Shown("gates", gates(subject, *given.one("gates")))]
    shown = [_Shown("saturation", saturation(subject, given.some("gates")))]
    if "target" not in subject.trained.tokenizers:
        whole = "\n".join(given.texts)
        try:
            shown.append(_Shown("cells", followers(subject, whole)))
        except DataError as error:
            say(f"Cells that follow a property are not shown: {error}")
    return shown


def _gradients(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.gradients import gradients

    return [_Shown("gradients", gradients(subjects[0], *given.one("gradients"), fresh=given.fresh))]


def _attribute(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.attribution import attribution, token_attribution

    text, target = given.one("attribute")
    if given.token is None:
        return [_Shown("attribution", attribution(subjects[0], text, target))]
    found = token_attribution(subjects[0], text, target, token=given.token, instead=given.instead)
    return [_Shown(f"token-{given.token}", found)]


def _beam(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.tree import greedy_against_beam, tree

    size, texts = given.beam or 5, given.some("beam")
    if given.from_file:
        return [_Shown("greedy", greedy_against_beam(subjects[0], texts, size))]
    return [_Shown("beam", tree(subjects[0], given.one("beam")[0], size))]


def _length(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.length import by_lengths

    return [_Shown("length", by_lengths(subjects, given.some("length"), given.targets))]


def _embed(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.embeddings import sentence_projection, word_neighbours

    texts = given.some("embeddings")
    make = sentence_projection if given.from_file else word_neighbours
    return [_Shown("embeddings", make(subjects[0], texts))]


def _curves(subjects: "Sequence[Subject]", given: _Given) -> Sequence[_Shown]:
    from anaphora.inspection.curves import curves

    return [_Shown("curves", curves([subject.trained.path for subject in subjects]))]


def _lessons() -> Sequence[str]:
    from anaphora.inspection.explain import LESSONS

    return tuple(LESSONS)


def _explain(given: _Given) -> Sequence[_Shown]:
    from anaphora.config import unknown
    from anaphora.inspection.explain import LESSONS

    if len(given.words) != 1:
        raise ConfigError(f"inspect explain takes one of {', '.join(LESSONS)}: name it.")
    [name] = given.words
    if name not in LESSONS:
        raise ConfigError(unknown("lesson", name, LESSONS))
    return [_Shown(name, LESSONS[name]())]


def _diagram(given: _Given) -> Sequence[_Shown]:
    from anaphora import recipes
    from anaphora.experiment.reading import read_experiment
    from anaphora.inspection.diagram import diagrams
    from anaphora.inspection.programs import programs_of
    from anaphora.tasks.runs import experiment_of

    if len(given.words) != 1:
        raise ConfigError(
            "inspect diagram takes a recipe or a run: name one, as in anaphora inspect diagram luong2015."
        )
    [name] = given.words
    experiment = experiment_of(Path(name)) if Path(name).is_dir() else read_experiment(recipes.read(name), name)
    programs = programs_of(experiment)
    if not programs:
        raise ConfigError(f"{name} has no steps to draw: its network is not recurrent.")
    drawn = diagrams(Path(name).name, programs, given.cut_every)
    names = ["diagram", *(f"step-{number}" for number in range(1, len(drawn)))]
    return [_Shown(stem, one) for stem, one in zip(names, drawn, strict=True)]


def _print(shown: Sequence[_Shown], given: _Given, as_json: bool) -> None:
    from anaphora.formats.figures import figures_as_json

    for stem, result in shown:
        if as_json:
            typer.echo(figures_as_json({stem: _as_json(result)}))
        elif given.blank and hasattr(result, "text"):
            typer.echo(result.text(blank=True))
        else:
            typer.echo("\n".join(map(str, result)) if isinstance(result, list | tuple) else str(result))


def _as_json(result: Any) -> Any:
    return [one.json() for one in result] if isinstance(result, list | tuple) else result.json()


def _write(shown: Sequence[_Shown], given: _Given, output: Path) -> None:
    """Lessons as HTML, diagrams as SVG, everything else as PNG and SVG; and the numbers as JSON."""
    from anaphora.formats.figures import figures_as_json
    from anaphora.inspection import drawing

    if (output / "experiment.toml").exists() or output.is_file():
        raise DataError(f"Pictures need a folder of their own, but {output} is a file or a run: name another.")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Cannot create the folder {output}: {error.strerror or error}.") from None
    for stem, result in shown:
        if hasattr(result, "html"):
            files, notes = [_text_file(output / f"{stem}.html", result.html(given.blank))], list[str]()
        elif hasattr(result, "svg"):
            files, notes = [_text_file(output / f"{stem}.svg", result.svg())], []
        else:
            files, notes = drawing.save(output, stem, result)
        if not given.blank:
            files.append(_text_file(output / f"{stem}.json", figures_as_json(_as_json(result), indent=1)))
        for note in dict.fromkeys(notes):
            say(note)
        say(f"Written: {', '.join(map(str, files))}")


def _text_file(path: Path, text: str) -> Path:
    from anaphora.formats.lines import writing_text

    with writing_text(path) as write:
        write(f"{text}\n")
    return path
