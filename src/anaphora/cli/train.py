"""``anaphora train``: a recipe and a person's data become a run folder.

Examples:
    anaphora train multi30k-en-de --run runs/en-de
    anaphora train multi30k-en-de --data my-folder --source en --target cs --time 30m
    anaphora train character-lm --data book.txt --set recurrence.size=256
    anaphora train --data book.txt --run runs/book
    anaphora train --data reviews.csv --task classify --run runs/reviews
    anaphora train --data my.conllu --task tag --run runs/upos
    anaphora train --data frames.npz --task tag --run runs/frames
    anaphora train --data words.tsv --task transduce --columns 2,1 --run runs/words
    anaphora train --data strokes.jsonl --task transduce --run runs/reader
    anaphora train --data captioned --task describe --run runs/captions
    anaphora train --data strokes.jsonl --task trace --run runs/mine
    anaphora train --from runs/en-de --data week.tmx --run runs/en-de-2
    anaphora train --from runs/en-de --data my-folder --vocabulary extend --run runs/mine
    anaphora train ptb-ngram --from runs/en-de --vocabulary only --data german.txt --run runs/german
    anaphora train multi30k-en-de --run runs/en-de --board boards/en-de
    anaphora train --data es-gn=gn --data es-hch=hch --data es-shp=shp --run runs/three
    anaphora train --data corpus --source en --target cs --synthetic made.tsv --run runs/en-cs
    anaphora train --resume --run runs/en-de
    torchrun --nproc-per-node 2 -m -- anaphora train multi30k-en-de --run runs/en-de
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.experiments import AUTO, ExperimentRequest, experiment_text, requested_experiment, with_languages
from anaphora.cli.options import Json, seconds
from anaphora.cli.progress import clock, listening
from anaphora.cli.signals import handling_signals, leave, resume_hint
from anaphora.cli.talk import print_json, say, show
from anaphora.errors import ConfigError
from anaphora.events import silent
from anaphora.options import Excludes, Needs, Option
from anaphora.wording import inflect

if TYPE_CHECKING:
    from anaphora.events import Report
    from anaphora.experiment.overrides import Table
    from anaphora.tasks.base import ExperimentBase as Experiment
    from anaphora.tasks.base import StartConfig
    from anaphora.training.loop import Outcome


ReplayOption = Annotated[
    float | None, Option("With --from a translator: old data in a batch.", default="0.5", metavar="FRACTION")
]
BoardOption = Annotated[Path | None, Option("Write scalars for TensorBoard here.", metavar="FOLDER")]

CONFLICTS = (
    Excludes("--resume", "--from", "--resume continues a run, but --from starts a new one"),
    Needs("--replay --vocabulary", "--from"),
)


def run(
    asked: ExperimentRequest,
    run_folder: Annotated[
        Path | None, Option("Run folder to create.", default="runs/RECIPE", metavar="DIR", name="--run")
    ] = None,
    time: Annotated[str, Option("Training time, which the epochs fill; resumed parts included.", metavar="30m")] = "",
    board: BoardOption = None,
    resume: Annotated[bool, Option("Continue the run from its latest checkpoint.")] = False,
    parent: Annotated[Path | None, Option("Start from an older run's weights.", metavar="RUN", name="--from")] = None,
    vocabulary: Annotated[
        str, Option("With --from: keep or extend its vocabulary, or take only that.", metavar="keep|extend|only")
    ] = "keep",
    replay: ReplayOption = None,
    as_json: Json = False,
) -> None:
    """Train a recipe on its corpus or on your own text."""
    recipe = asked.recipe
    if not recipe and (resume or parent) and run_folder is None:
        raise ConfigError("--run DIR is missing. Name the folder to continue or to create.")
    if time:
        asked = replace(asked, settings=[*(asked.settings or []), f"training.minutes={seconds(time, '--time') / 60}"])
    start = _start(parent, vocabulary, replay, recipe)
    folder = run_folder or Path("runs") / (Path(recipe).name.removesuffix(".toml") or AUTO)

    from anaphora.experiment.run_training import train
    from anaphora.training.ranks import join_ranks

    resumed = folder if resume else None
    hint = partial(resume_hint, folder)
    with handling_signals(hint) as signals, join_ranks() as ranks, _reporting(ranks.first, board) as report:
        experiment = ranks.run_on_each(lambda: _experiment(asked, resumed, parent, start, report))
        if time and not resume and ranks.size == 1:
            experiment = _fitted(experiment, asked, parent, folder, report)
        outcome = train(experiment, folder, report, resume=resume, stop=signals.stop, ranks=ranks)
        exit_code, first = max(ranks.all_gather(signals.exit_code)), ranks.first
    stopped = outcome.reason == "stopped"
    if not first:
        raise typer.Exit(exit_code if stopped else 0)
    if stopped:
        leave(outcome, folder, exit_code)
    if as_json:
        return print_json({"run": str(folder), **asdict(outcome)})
    say(_ending(outcome, folder, experiment))
    show(folder)


@contextmanager
def _reporting(first: bool, folder: Path | None) -> "Iterator[Report]":
    """Yield the report of the first process: to standard error, and with a folder to TensorBoard too."""
    if not first:
        yield silent
        return
    with listening() as report, ExitStack() as boards:
        if folder is not None:
            from anaphora.inspection.board import board

            report = boards.enter_context(board(folder, report))
        yield report


def _experiment(
    asked: ExperimentRequest, resumed: Path | None, parent: Path | None, start: "StartConfig | None", report: "Report"
) -> "Experiment":
    """The experiment that is asked for: of a run that is ``resumed``, that starts from a ``parent``, or a new one."""
    if resumed:
        asked = _resumed_request(resumed, asked)
    elif asked.recipe or not parent:
        asked = with_languages(asked, report)
    return requested_experiment(asked, report, _toml(asked, resumed or parent, start, report), start)


def _fitted(
    experiment: "Experiment", asked: ExperimentRequest, parent: Path | None, folder: Path, report: "Report"
) -> "Experiment":
    """Return a new experiment with epochs that fit into its time, unless the command sets them."""
    from anaphora.experiment.estimate import fit_to_time
    from anaphora.run.layout import check_free

    def chosen(amount: int) -> "Experiment":
        return requested_experiment(asked, silent, experiment_text(asked, silent, at_most=amount))

    check_free(folder)
    if any(setting.replace(" ", "").startswith("training.epochs=") for setting in asked.settings or []):
        return experiment
    return fit_to_time(experiment, chosen if asked.recipe in ("", AUTO) and not parent else None, report)


def _resumed_request(run: Path, asked: ExperimentRequest) -> ExperimentRequest:
    """Return the data of a resumed run, unless the command or the file of an experiment names other files."""
    from anaphora.experiment.overrides import read_table
    from anaphora.tasks.runs import experiment_of

    if not asked.recipe:
        return asked  # which goes into the experiment of the run
    begun = experiment_of(run)
    table = {} if asked.recipe == AUTO else read_table(*experiment_text(ExperimentRequest(asked.recipe), silent))
    named = table.get("data")
    if asked.data or (isinstance(named, dict) and named.get("files")) or table.get("task", begun.task) != begun.task:
        return asked  # and what does not fit the run, is refused there
    languages = begun.data.languages
    return replace(
        asked,
        data=[Path(file) for file in begun.data.files],
        source=asked.source or languages.get("source", ""),
        target=asked.target or languages.get("target", ""),
    )


def _toml(
    asked: ExperimentRequest, run: Path | None, start: "StartConfig | None", report: "Report"
) -> "tuple[str | Table, str]":
    """The text of the experiment, and where it came from: a recipe, a file, another run, or the look of the data."""
    from anaphora.experiment.parent_run import incremental_table
    from anaphora.tasks.runs import experiment_of

    other = experiment_of(run) if run else None
    lent = other.text if other and start and start.vocabulary == "only" else None
    if asked.recipe or other is None or lent:
        return experiment_text(asked, report, lent)
    table = incremental_table(other) if start and start.replay else other.tables()
    if start:  # how long the old training was to take, and on how many threads, is no part of what is trained
        table["training"] |= {"minutes": 0.0, "threads": 0}
    return table, f"{run}/experiment.toml"


def _start(parent: Path | None, vocabulary: str, replay: float | None, recipe: str) -> "StartConfig | None":
    """Return the options for the start of a new run; nothing without ``--from``."""
    if parent is None:
        return None
    if (parent / "experiment.toml").exists():  # reported before the imports below, which take seconds
        say(f"Starting from the {'' if vocabulary == 'only' else 'weights and '}vocabulary of {parent} ...")

    from anaphora.experiment.parent_run import usual_replay
    from anaphora.tasks.base import StartConfig
    from anaphora.tasks.runs import experiment_of

    table = {"run": str(parent.absolute()), "vocabulary": vocabulary, "replay": replay or 0.0}
    start = StartConfig.parse(table, "--from")
    if replay is None and not recipe and start.gives_weights:
        older = experiment_of(parent)
        start = start.with_options({"replay": usual_replay(older)})
        if start.replay and older.to_grow() != older:
            say("Old and new pairs are without its alignment supervision (guided_alignment) and synthetic pairs.")
    return start


def _ending(outcome: "Outcome", folder: Path, experiment: "Experiment") -> str:
    """Print the summary of a finished training, and the next command."""
    from anaphora.tasks.registry import task_of

    figures = ", ".join(f"{name} {value:.4g}" for name, value in outcome.metrics.items())
    name, targets = quote(str(folder)), experiment.data.languages.get("target", "").split(",")
    name += f" --to {targets[0]}" if len(targets) > 1 else ""
    following = f"Next: {task_of(experiment).next_command.format(run=name)}"
    if outcome.reason == "fitted":
        return f"Fitted in {clock(outcome.seconds)}: validation {figures}. {following}"
    why = {
        "epochs": "all epochs are done",
        "patience": "validation has stopped improving",
        "minutes": "the time is up",
    }[outcome.reason]
    remark = f" {outcome.remark}" if outcome.remark else ""
    return (
        f"Trained in {clock(outcome.seconds)}: {why} after {inflect(outcome.update, 'update')}. "
        f"Best checkpoint: update {outcome.best_update:,}, validation {figures}.{remark} "
        + f"{outcome.verdict} {following}".lstrip()
    )
