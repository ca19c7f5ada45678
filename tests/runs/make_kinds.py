"""Makes ``tests/runs/kinds-N``: a small run of every kind but a translator in the present format, and what they say.

    python tests/runs/make_kinds.py

Like ``make.py`` it is run once for every new format, never again for an old one. The recurrent language model was
stopped in the middle of an epoch and lies beside its text, with its optimizer, so that it can go on.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.run.manifest import FORMAT
from anaphora.samples.english_french import corpus
from anaphora.tasks.alignment.predictor import AlignmentPredictor
from anaphora.tasks.base import ExperimentBase
from anaphora.tasks.language_model.predictor import LanguageModelPredictor
from anaphora.tasks.runs import experiment_of, load

TEXT = """
task = "language-model"
[data]
files = ["text"]
"""
WORDS = """
[text]
tokenizer = "word"
segmentation = "whitespace"
"""
NETWORK = """
[embedding]
size = 4
[recurrence]
size = 4
[training]
optimizer = {kind = "adam", learning_rate = 0.02}
batch_tokens = 40
epochs = 3
keep = 1
"""
PAIRS = """
task = "align"
[data]
files = ["pairs"]
source = "en"
target = "fr"
"""
RUNS = {
    "language-model": f"{TEXT}steps = 8\n{WORDS}{NETWORK}",
    "counts": f'model = "ngram"\n{TEXT}{WORDS}[ngram]\norder = 3\n',
    "mixture": (
        f'model = "interpolation"\n{TEXT}[interpolation]\nruns = ["counts", "language-model"]\ncache = "counts"\n'
    ),
    "aligner": f"{PAIRS}{WORDS}",
}
UPDATES = 8
"""Updates after which the network is stopped, in its second epoch."""

LINES = ("the old man sees a cat .", "", "a zebra sees the garden and the book .")
SOURCES, TARGETS = ("the cat sees the garden .", "a book"), ("le chat voit le jardin .", "un livre")


def make(place: Path) -> None:
    """Make the runs and put their folders, less what is made again when it is needed, in ``place``."""
    here = Path.cwd()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_data()
        stops = iter([False] * UPDATES + [True])  # only the network asks
        for name, experiment in RUNS.items():
            train(relative(read_experiment(experiment, name)), Path(name), print, stop=lambda: next(stops))
        Path("figures.json").write_text(json.dumps(figures(), indent=1, ensure_ascii=False) + "\n")
        for run in map(Path, RUNS):
            shutil.rmtree(run / "encoded", ignore_errors=True)
            (run / "lock").unlink(missing_ok=True)
        shutil.rmtree("pairs")
        os.chdir(here)
        shutil.copytree(folder, place)


def relative(experiment: ExperimentBase) -> ExperimentBase:
    """The experiment with its files named from here, so that no path of this machine is stored."""
    files = tuple(Path(file).name for file in experiment.data.files)
    return experiment.model_copy(update={"data": experiment.data.model_copy(update={"files": files})})


def write_data() -> None:
    """A text and pairs, tokens between spaces."""
    pairs = corpus(1, train=32, valid=0, test=0).train
    for folder in "text", "pairs":
        Path(folder).mkdir()
    for name, some in (("train", pairs[:24]), ("valid", pairs[24:])):
        sources = [" ".join(pair.source_words).lower() for pair in some]
        write_lines(Path(f"text/{name}.txt"), sources)
        write_lines(Path(f"pairs/{name}.en"), sources)
        write_lines(Path(f"pairs/{name}.fr"), (" ".join(pair.target_words).lower() for pair in some))


def figures() -> dict[str, Any]:
    """What the runs say, and where the network ends that goes on."""
    found: dict[str, Any] = {"lines": LINES, "sources": SOURCES, "targets": TARGETS}
    for name in RUNS:
        model = load(name)
        if isinstance(model, AlignmentPredictor):
            found[name] = [to_pharaoh(links) for links in model.align(SOURCES, TARGETS)]
        else:
            assert isinstance(model, LanguageModelPredictor)
            found[name] = [line.log10 for line in model.score_lines(LINES)]
    shutil.copytree("language-model", "resumed")
    outcome = train(experiment_of(Path("resumed")), Path("resumed"), print, resume=True)
    shutil.rmtree("resumed")
    return found | {"resumed": {"update": outcome.update, "metrics": outcome.metrics}}


if __name__ == "__main__":
    make(Path(__file__).parent / f"kinds-{FORMAT}")
