"""``anaphora inspect``: see inside of runs; numbers as text or JSON, pictures into a folder.

Examples:
    anaphora inspect runs/en-de
    anaphora inspect runs/en-de attention --text "A man is walking." --output pictures
    anaphora inspect runs/en-de report --source test.en --target test.de --output pictures
    anaphora inspect runs/small runs/large attention --source test.en --target test.de --output pictures
    anaphora inspect runs/en-de-1 runs/en-de-2 curves --output pictures
    anaphora inspect runs/en-de embeddings --text man --text dog
    anaphora inspect runs/en-de length --source test.en --target test.de
    anaphora inspect runs/book gates --text "the man walks" --output pictures
    anaphora inspect runs/book gates book.txt
    anaphora inspect runs/book gradients --text "the man walks" --output pictures
    anaphora inspect runs/simple runs/lstm gradients --text "the man walks" --output pictures
    anaphora inspect runs/en-de attribute --text "A man is walking." --token 2 --instead Frau
    anaphora inspect runs/en-de beam --text "A man is walking." --beam 3
    anaphora inspect runs/en-de beam test.en --beam 5 --json
    anaphora inspect runs/en-de neighbours --text "A man is walking."
    anaphora inspect gradients --remedies
    anaphora inspect span --quick --output pictures
    anaphora inspect runs/book span book.txt
    anaphora inspect explain lstm
    anaphora inspect explain bptt --blank --output lesson
    anaphora inspect diagram bahdanau2015 --output pictures
    anaphora inspect diagram lstm --output pictures
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anaphora.cli.files import given_texts, name_of
from anaphora.cli.options import Json, Threads, ToOption
from anaphora.cli.progress import listening
from anaphora.cli.tables import is_on_command_line
from anaphora.cli.talk import print_json, say, show
from anaphora.errors import ConfigError, DataError, refuse_os_errors
from anaphora.events import Report, silent
from anaphora.formats.json_text import figures_as_json
from anaphora.formats.lines import writing_text
from anaphora.options import Argument, Needs, Option
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.cli.inspect_verbs import Verb
    from anaphora.inspection.subject import Subject


Results = dict[str, Any]
"""Dataclasses with ``json()``, or several for one picture, by the names of their files."""

_ANY = frozenset({"arguments", "output", "as_json", "threads"})
"""The options of every verb, by the names of their parameters."""
_TEXT, _TARGET = {"text", "source", "to"}, {"target_text", "target"}
_GIVEN_BY = {"text": _TEXT, "texts": _TEXT, "target": _TARGET, "targets": _TARGET}
"""Options that give what a function of a verb has as this parameter; all others have the name of theirs."""

MICROSCOPE = "The microscope, a page that computes the model, is written by anaphora export RUN --to html"

CONFLICTS = (Needs("--instead --points", "--token"), Needs("--target", "--source"), Needs("--target-text", "--text"))


@dataclass(frozen=True)
class Choices:
    """Texts, and options of single verbs."""

    text: Annotated[list[str] | None, Option("A text in place of a file; may be repeated.")] = None
    target_text: Annotated[list[str] | None, Option("Translation of a --text, not searched; repeated like it.")] = None
    to: ToOption = ""
    source: Annotated[Path | None, Option("File of source sentences (for a translator).")] = None
    target: Annotated[Path | None, Option("File of their translations, which are not searched.")] = None
    beam: Annotated[int | None, Option("Beam size; 1 is greedy search.", min=1, default="1; beam: 5")] = None
    fresh: Annotated[bool, Option("gradients: with the weights before training.")] = False
    blank: Annotated[bool, Option("explain: leave the answers out, in a second page.")] = False
    seed: Annotated[int | None, Option("explain: draw other numbers.", min=0, default="those of the lesson")] = None
    cut_every: Annotated[int, Option("diagram: show where chunks of so many steps cut the gradient.", min=0)] = 0
    token: Annotated[int | None, Option("attribute: one output token, by number.", min=1)] = None
    instead: Annotated[str, Option("attribute: why --token, and not this one?", metavar="TOKEN")] = ""
    points: Annotated[int | None, Option("attribute: points of the integral, at most.", min=1, default="32")] = None
    remedies: Annotated[bool, Option("gradients: train small networks with one remedy each, without a run.")] = False
    yes: Annotated[bool, Option("neighbours: write a large index without asking (asked at a terminal).")] = False
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

    def call(self, verb: str, find: Callable[..., Any], subjects: "Sequence[Subject]" = ()) -> Results:
        """Return the results of a function, which is given what it has parameters for.

        They are fields of this class, the ``subject`` or ``subjects``, and as ``text`` and ``target`` the only one;
        where there is none, the function's default. Raises ConfigError for no text, and for several where it takes one.
        """
        names, given = signature(find).parameters, {**vars(self), "subjects": subjects}
        if "subject" in names:
            [given["subject"]] = subjects
        if "texts" in names and not self.texts:
            raise ConfigError(f"inspect {verb} takes a text: name a FILE, or add --text, or --source and --target.")
        if "text" in names:
            if len(self.texts) != 1:
                raise ConfigError(f"inspect {verb} takes one text, but {len(self.texts):,} were given: add one --text.")
            given |= {"text": self.texts[0], "target": self.targets[0] if self.targets else None}
        found = find(**{name: given[name] for name in names if given.get(name) is not None})
        return found if isinstance(found, dict) else {verb: found}


def run(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None, Argument("Run folders, what to look at, and a text.", metavar="[RUN...] [VERB] [FILE|-]")
    ] = None,
    *,
    choices: Choices,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Show attention, gates, gradients and beams.

    Without a run, explain the parts of a network.
    """
    from anaphora.cli.inspect_verbs import VERBS

    words = list(arguments or [])
    place = next((n for n, word in enumerate(words) if word in VERBS), len(words))
    runs, verb, rest = words[:place], words[place : place + 1], words[place + 1 :]
    if not verb:
        _list(runs, VERBS)
        return
    _demand_effect(context, VERBS[verb[0]], verb[0], alone=not runs)
    with listening() as report:
        request = _with_texts(Request(**vars(choices), words=rest, report=report))
        shown = _run_verb(VERBS[verb[0]], verb[0], runs, request)
    _print(shown, as_json)
    if request.output is not None:
        _write(shown, request.output)


def _demand_effect(context: typer.Context, verb: "Verb", name: str, alone: bool) -> None:
    """Raise ConfigError for an option of the command line that has no effect on what is shown."""
    functions = [verb.alone] if alone and verb.alone else [verb.find, verb.of_file, verb.of_vectors]
    names = chain.from_iterable(signature(one).parameters for one in functions if one)
    takes = _ANY.union(*(_GIVEN_BY.get(name, {name}) for name in names))
    for option in context.command.params:
        if option.name not in takes and is_on_command_line(context, option.name or ""):
            where = " without a run" if alone and verb.find and verb.alone else ""
            raise ConfigError(f"{option.opts[0]} has no effect on inspect {name}{where}: leave it out.")


def _with_texts(request: Request) -> Request:
    """Return the request with its texts; ConfigError for two kinds at once, DataError for an empty file."""
    text, source, target = request.text, request.source, request.target
    if (text is not None) + (source is not None) + (len(request.words) > 0) > 1:
        raise ConfigError("A FILE, --text and --source are three ways to give a text: give one of them.")
    if source is not None:
        texts, targets = _lines(str(source)), None if target is None else _lines(str(target))
    elif text is not None:
        texts, targets = list(text), request.target_text
    else:
        return replace(request, from_file=bool(request.words))
    if targets is not None and len(targets) != len(texts):
        raise DataError(
            f"There are {inflect(len(texts), 'text')} but {inflect(len(targets), 'target')}: give as many of both."
        )
    return replace(request, texts=texts, targets=targets, from_file=source is not None)


def _lines(file: str) -> list[str]:
    lines = list(given_texts(file))
    if not lines:
        raise DataError(f"{name_of(file)} has no lines, but there should be at least one: give another file.")
    return lines


def _run_verb(verb: "Verb", name: str, runs: Sequence[str], request: Request) -> Results:
    """Return the results of a verb, of runs or alone; ConfigError for a number of runs that it does not take."""
    if not runs and verb.alone:
        return request.call(name, verb.alone)
    if verb.find is None:
        raise ConfigError(f"inspect {name} takes no run: leave {runs[0]} out.")
    if not runs:
        raise ConfigError(f"inspect {name} takes a run: name its folder, as in anaphora inspect runs/mine {name}.")
    if len(runs) > 1 and "subjects" not in signature(verb.find).parameters:
        raise ConfigError(f"inspect {name} takes one run, but {len(runs)} were given: name one.")
    if len(request.words) > 1:
        raise ConfigError(f"inspect {name} takes one file, but {len(request.words)} were given: name one.")
    from anaphora.inspection.attention import reads_vectors
    from anaphora.inspection.subject import Subject

    subjects = [Subject.open(run, to=request.to) for run in runs]
    for subject in subjects:
        if not request.texts:
            subject.demand(f"does not support inspect {name}", verb.lacks(subject))
    if verb.of_vectors and any(map(reads_vectors, subjects)):
        return request.call(name, verb.of_vectors, subjects)
    if request.words:
        request = replace(request, texts=_lines(request.words[0]), from_file=True)
    return request.call(name, verb.of_file if verb.of_file and request.from_file else verb.find, subjects)


def _list(runs: Sequence[str], known: "dict[str, Verb]") -> None:
    """Print the verbs, with the reason that one does not work for a run."""
    from anaphora.inspection.subject import Subject

    strange = [word for word in runs if not Path(word).exists()] or runs[1:]
    if strange:
        what = "a second run without something to show" if Path(strange[0]).exists() else "neither a run nor a verb"
        raise ConfigError(f"'{strange[0]}' is {what}. Known verbs: {', '.join(known)}. {MICROSCOPE}.")
    subject = Subject.open(runs[0]) if runs else None
    for name, verb in known.items():
        if verb.find or not subject:
            why = verb.lacks(subject) if subject else ""
            show(f"{name:<12} {f'no: {why}' if why else verb.summary}")
    show(MICROSCOPE)


def _print(shown: Results, as_json: bool) -> None:
    from anaphora.inspection.drawing import explanations_of

    for stem, result in shown.items():
        if as_json:
            print_json({stem: _as_json(result)})
        else:
            show("\n".join(map(str, result)) if isinstance(result, list | tuple) else str(result))
            show("".join(f"\n{one}\n" for one in explanations_of(result)), end="")


def _as_json(result: Any) -> Any:
    return [one.json() for one in result] if isinstance(result, list | tuple) else result.json()


def _write(shown: Results, output: Path) -> None:
    """Write lessons as HTML, everything else as PNG and SVG; and the numbers as JSON."""
    from anaphora.inspection import drawing

    if (output / "experiment.toml").exists() or output.is_file():
        raise DataError(f"Pictures need a folder of their own, but {output} is a file or a run: name another.")
    with refuse_os_errors(f"Cannot create the folder {output}: "):
        output.mkdir(parents=True, exist_ok=True)
    for stem, result in shown.items():
        if hasattr(result, "html"):
            pages = {f"{stem}.html": False} | ({f"{stem}-blank.html": True} if result.blank else {})
            files = [_text_file(output / name, result.html(blank)) for name, blank in pages.items()]
            notes = list[str]()
        else:
            files, notes = drawing.save(output, stem, result)
        files.append(_text_file(output / f"{stem}.json", figures_as_json(_as_json(result), indent=1)))
        for note in dict.fromkeys(notes):
            say(note)
        say(f"Written: {', '.join(map(str, files))}")


def _text_file(path: Path, text: str) -> Path:
    with writing_text(path) as write:
        write(f"{text}\n")
    return path
