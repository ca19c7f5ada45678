"""``anaphora quickstart``: from nothing to a translator, a score and a picture, in about two minutes.

Examples:
    anaphora quickstart
    anaphora quickstart --folder demo
"""

import shutil
from itertools import count, islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.options import SettingsOption, Threads
from anaphora.cli.progress import clock, listening
from anaphora.cli.signals import handling_signals, leave
from anaphora.cli.talk import say, show
from anaphora.errors import AnaphoraError, ConfigError, MissingExtraError, RunError
from anaphora.options import Option

if TYPE_CHECKING:
    from anaphora.tasks.translation.predictor import TranslationPredictor
    from anaphora.tasks.translation.translation import Translation


SHOWN = 5
"""Translations that are printed."""

DRAWABLE = 200
"""Test sentences of which one is drawn."""


def run(
    folder: Annotated[Path | None, Option("Folder for all output.", default="runs/quickstart", metavar="DIR")] = None,
    settings: SettingsOption = None,
    sentences: Annotated[int, Option("Number of training pairs.", min=1000)] = 30_000,
    threads: Threads = 0,
) -> None:
    """Train a small translator on a generated corpus."""
    place = _free(folder)

    from anaphora import recipes
    from anaphora.experiment.reading import read_experiment
    from anaphora.experiment.run_training import train
    from anaphora.samples.english_french import write

    corpus, run_folder = place / "corpus", place / "run"
    with listening() as report:
        read = recipes.read("quickstart")
        experiment = read_experiment(read, "quickstart.toml", settings or [], data=[corpus], report=report)
    say(f"Making a corpus of {sentences:,} English-French pairs in {corpus} ...")
    write(corpus, train=sentences)
    try:
        with listening() as report, handling_signals() as signals:
            outcome = train(experiment, run_folder, report, stop=signals.stop)
    except AnaphoraError:
        if not (run_folder / "latest").exists():  # so that the command can be given again
            shutil.rmtree(place)
        raise
    if outcome.reason == "stopped":
        leave(outcome, run_folder, signals.exit_code)
    say(f"Trained in {clock(outcome.seconds)}. Translating sentences that training never showed ...")
    _show(run_folder, corpus / "test.links", place / "alignment.png")


def _free(folder: Path | None) -> Path:
    """Return a folder that is not there yet: the one asked for, or the first free one of runs/quickstart, -2, -3 ..."""
    if folder is None:
        numbered = (Path(f"runs/quickstart{f'-{n}' if n > 1 else ''}") for n in count(1))
        return next(place for place in numbered if not place.exists())
    if folder.exists():
        raise RunError(f"The quickstart needs a folder of its own, but {folder} exists: choose another with --folder.")
    return folder


def _show(run_folder: Path, links: Path, picture: Path) -> None:
    """Translations beside what was expected, the score, a picture, and where everything is."""
    from anaphora.inspection.microscope import write_microscope
    from anaphora.tasks.runs import experiment_of, load
    from anaphora.tasks.training_job import pair_splits
    from anaphora.tasks.translation.config import TranslationExperiment
    from anaphora.tasks.translation.evaluation import score_translations
    from anaphora.tasks.translation.predictor import TranslationPredictor

    translator, experiment = load(run_folder), experiment_of(run_folder)
    assert isinstance(translator, TranslationPredictor) and isinstance(experiment, TranslationExperiment)
    with listening() as report:
        [test] = pair_splits(experiment, report).tests.values()
        scores = score_translations(translator, test, experiment, report=report)
    pairs = list(islice(test, SHOWN))
    for (source, reference), output in zip(pairs, translator.translate([source for source, _ in pairs]), strict=True):
        show(f"English   {source}\nFrench    {output.text}\nexpected  {reference}\n")
    show(scores)
    _draw(translator, list(islice(test, DRAWABLE)), links, picture)
    page = run_folder.with_name("microscope.html")
    write_microscope(run_folder, page, [source for source, _ in pairs])
    show(
        f"The page     {page} (open it in a browser: the model, computed step by step)\n"
        f"\nThe run      {run_folder}\n"
        f"Yours next   echo 'The old man sees a cat.' | anaphora translate {quote(str(run_folder))}\n"
        f"             anaphora train quickstart --data FOLDER --source en --target fr --run runs/mine"
    )


def _draw(translator: "TranslationPredictor", pairs: list[tuple[str, str]], links: Path, picture: Path) -> None:
    """Draw the attention of one translation; without attention or matplotlib, print why not.

    Of the translations that equal their reference it is the longest of those with the lowest alignment error rate
    against the ``links`` of the corpus.
    """
    from anaphora.evaluation.alignment import agreement
    from anaphora.formats.lines import read_lines
    from anaphora.formats.pharaoh import from_pharaoh

    outputs = translator.translate([source for source, _ in pairs], attention=True)

    def rank(example: "tuple[Translation, tuple[str, str], str]") -> tuple[bool, float, int]:
        output, (_, reference), line = example
        error = agreement([output.links()], [from_pharaoh(line, str(links))]).error_rate
        return output.text != reference, error, -len(reference)

    try:
        from anaphora.inspection.attention import Alignment
        from anaphora.inspection.drawing import save

        shown, (source, _), _ = min(zip(outputs, pairs, read_lines(links), strict=False), key=rank)
        assert shown.weights is not None
        both, weights = (shown.source_pieces, shown.target_pieces), tuple(map(tuple, shown.weights.tolist()))
        save(picture.parent, picture.stem, Alignment("", source, shown.text, shown.score, *both, weights))
    except (ConfigError, MissingExtraError) as error:
        say(str(error))
        return
    show(f"\nThe picture  {picture}")
