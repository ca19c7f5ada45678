"""``anaphora train``: a recipe and a person's data become a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anaphora.cli.opening import recipe_text
from anaphora.cli.options import minutes
from anaphora.cli.progress import clock, listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.experiment.schema import Experiment
    from anaphora.training.loop import Outcome

EXAMPLES = (
    "anaphora train multi30k-en-de --run runs/en-de",
    "anaphora train multi30k-en-de --data my-folder --source en --target cs --time 30m",
    "anaphora train character-lm --data book.txt --set recurrence.size=256",
    "anaphora train --resume --run runs/en-de",
)


def run(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE|FILE.toml", help="A recipe's name, or a TOML file of your own.")
    ] = "",
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="FOLDER|FILE", help="Your own text instead of the recipe's; may be repeated."),
    ] = None,
    source: Annotated[str, typer.Option(help="The language translated from, as files of it end: en.")] = "",
    target: Annotated[str, typer.Option(help="The language translated into, as files of it end: cs.")] = "",
    run_folder: Annotated[
        Path | None, typer.Option("--run", metavar="DIR", help="The run folder to make. [default: runs/RECIPE]")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change one option of the recipe; may be repeated."),
    ] = None,
    time: Annotated[str, typer.Option(metavar="30m", help="Stop after so long: 30m, 1h30m, 90s.")] = "",
    threads: Annotated[int | None, typer.Option(min=0, help="Threads of a product; 0 lets torch choose.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run folder where it stands.")] = False,
) -> None:
    """Train a recipe on its corpus or on your own text, into a run folder."""
    changes = list(settings or [])
    if time:
        changes.append(f"training.minutes={minutes(time)}")
    if threads is not None:
        changes.append(f"training.threads={threads}")
    folder = run_folder or Path("runs") / Path(recipe).name.removesuffix(".toml")
    text, where = _toml(recipe, folder, resume)

    from anaphora.experiment.conduct import train
    from anaphora.experiment.schema import read_experiment

    experiment = read_experiment(text, where, changes, data=data or [], source=source, target=target)
    try:
        with listening() as report:
            outcome = train(experiment, folder, report, resume=resume)
    except KeyboardInterrupt:
        if (folder / "latest").exists():
            say(f"The last checkpoint is kept; go on with: anaphora train --resume --run {folder}")
        raise
    say(_ending(outcome, folder, experiment))
    typer.echo(folder)


def _toml(recipe: str, folder: Path, resume: bool) -> tuple[str, str]:
    """The text of the experiment, and where it came from: a recipe, a file, or the run that goes on."""
    if not recipe:
        if not resume or folder == Path("runs"):
            raise ConfigError("A recipe's name or a .toml file is needed; anaphora recipes lists the recipes.")
        from anaphora.experiment.conduct import experiment_of

        return experiment_of(folder).to_toml(), str(folder / "experiment.toml")
    return recipe_text(recipe)


def _ending(outcome: "Outcome", folder: Path, experiment: "Experiment") -> str:
    """What a person wants to know when training is over, and what to do next."""
    why = {
        "epochs": "all epochs are done",
        "patience": "validation has stopped improving",
        "minutes": "the time is up",
    }[outcome.reason]
    figures = ", ".join(f"{name} {value:.4g}" for name, value in outcome.metrics.items())
    verb = f"translate {folder} FILE" if experiment.task == "translate" else f"generate {folder} --prompt TEXT"
    return (
        f"Trained in {clock(outcome.seconds)}: {why} after {outcome.update:,} updates. "
        f"Best checkpoint: update {outcome.best_update:,}, validation {figures}. Next: anaphora {verb}"
    )
