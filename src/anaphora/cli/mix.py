"""``anaphora mix``: language models of one vocabulary, and a memory of the text itself, become one model.

Examples:
    anaphora mix runs/ptb-ngram --cache --run runs/ptb-cache
    anaphora mix runs/ptb-ngram runs/ptb-lstm --cache --run runs/ptb-mixed
    anaphora mix runs/mine --cache --set interpolation.cache.half_life=300 --run runs/mixed
"""

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Annotated

from anaphora.cli.options import Json, SettingsOption, Threads
from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, say, show
from anaphora.errors import ConfigError
from anaphora.options import Argument, Option


def run(
    runs: Annotated[list[Path], Argument("Run folders of language models.", metavar="RUN...")],
    run_folder: Annotated[Path, Option("Run folder to create.", metavar="DIR", name="--run")],
    cache: Annotated[bool, Option("Add n-gram models of the text just read.")] = False,
    data: Annotated[
        list[Path] | None, Option("Data instead of that of the first run; may be repeated.", metavar="FOLDER|FILE")
    ] = None,
    settings: SettingsOption = None,
    threads: Threads = 0,
    as_json: Json = False,
) -> None:
    """Interpolate language models.

    Their weights are fitted on the validation split.
    """
    from anaphora.experiment.overrides import Setting
    from anaphora.experiment.reading import read_experiment
    from anaphora.experiment.run_training import train
    from anaphora.tasks.language_model.training import interpolation_table

    with listening() as report:
        of_cache = [text for text in settings or [] if Setting.parse(text).key.startswith("interpolation.cache.")]
        if of_cache and not cache:
            raise ConfigError(f"--set {of_cache[0]} is about a cache, but there is none: add --cache, or leave it out.")
        experiment = read_experiment(
            interpolation_table(runs, cache=cache), "the interpolation", settings or [], data=data or [], report=report
        )
        outcome = train(experiment, run_folder, report)
    if as_json:
        return print_json({"run": str(run_folder), **asdict(outcome)})
    say(f"Mixed. Next: anaphora evaluate {quote(str(run_folder))}")
    show(run_folder)
