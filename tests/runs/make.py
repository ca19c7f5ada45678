"""Makes ``tests/runs/format-N``: a small translator in the present format, and what it translates.

    python tests/runs/make.py

It is run once for every new format, never again for an old one: a run that was stored must load and translate as it
did for ever. The corpus is made by ``anaphora.samples.english_french``, so all of it is our own.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import torch

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.run.manifest import FORMAT
from anaphora.samples.english_french import write
from anaphora.tasks.runs import load
from anaphora.tasks.translation.predictor import TranslationPredictor

EXPERIMENT = """
task = "translate"
[data]
files = ["corpus"]
source = "en"
target = "fr"
[text]
tokenizer = "bpe"
size = 450
[embedding]
size = 8
[encoder]
cell = "gru"
size = 12
[decoder]
cell = "gru"
size = 12
[output]
tied = false
[evaluation]
beam = 2
length_penalty = 0.5
[training]
optimizer = {kind = "adam", learning_rate = 0.02}
batch_tokens = 2000
epochs = 8
"""

SENTENCES = ("The old man sees a cat.", "Alice is in the garden.", "I want to read a good book today.", "")


def make(place: Path) -> None:
    """Train the translator and put its folder, less what is only for training, in ``place``."""
    here = Path.cwd()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the experiment names its files from here, so that no path of this machine is stored
        write(Path("corpus"), train=4000)
        experiment = read_experiment(EXPERIMENT, "make.py")
        data = experiment.data.model_copy(update={"files": ("corpus",)})
        train(experiment.model_copy(update={"data": data}), Path("run"), print)
        model = load("run")
        assert isinstance(model, TranslationPredictor)
        found = [
            {"source": text, "text": output.text, "score": output.score}
            for text, output in zip(SENTENCES, model.translate(SENTENCES), strict=True)
        ]
        Path("run/translations.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
        best = Path("run/best").read_text().strip()
        for checkpoint in Path("run/checkpoints").iterdir():
            if checkpoint.name != best:
                shutil.rmtree(checkpoint)
        for leftover in (f"checkpoints/{best}/optimizer.safetensors", "lock", "latest", "metrics.jsonl"):
            Path("run", leftover).unlink()
        shutil.rmtree("run/encoded")
        os.chdir(here)
        shutil.copytree(Path(folder, "run"), place)


if __name__ == "__main__":
    make(Path(__file__).parent / f"format-{FORMAT}")
