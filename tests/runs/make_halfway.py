"""Makes ``tests/runs/halfway-N``: small runs in the present format, stopped halfway, and what finishing them gives.

    python tests/runs/make_halfway.py

Like ``make.py`` it is run once for every new format, never again for an old one. Between them the runs cover what the
next update depends on: random draws, averages of the weights, carried state, optimizers and schedules.
"""

import json
import os
import shutil
import tempfile
import tomllib
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

import anaphora
from anaphora.formats.lines import write_lines
from anaphora.run.manifest import FORMAT

PAIRS = """
task = "translate"
[data]
files = ["pairs"]
source = "en"
target = "fr"
"""
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
TRAINING = """
[training]
threads = 1
precision = "fp32"
epochs = 3
keep = 1
"""

DROPOUT = f"""{PAIRS}
[text]
tokenizer = "bpe"
size = 90
byte_fallback = false
dropout = 0.1
[embedding]
size = 6
shared = true
scaled = true
dropout = {{kind = "variational", probability = 0.1, words = 0.1}}
[encoder]
cell = "lstm"
layers = 2
size = 6
dropout = {{kind = "variational", probability = 0.1, recurrent = 0.1}}
weight_dropout = 0.1
[decoder]
cell = "gru"
layers = 2
size = 8
residual = true
dropout = 0.2
weight_dropout = 0.1
scheduled_sampling = {{kind = "inverse-sigmoid", k = 6}}
[attention]
score = "concat"
query = "previous"
context = "state"
[output]
label_smoothing = 0.1
[evaluation]
beam = 3
length_penalty = 0.5
validation_beam = 2
{TRAINING}
optimizer = {{kind = "adam", learning_rate = 0.05, epsilon = 1e-5}}
schedule = {{kind = "linear", final = 0.1, warmup = 4}}
batch_tokens = 100
metric = "bleu"
"""

MOVING_AVERAGE = f"""{PAIRS}{WORDS}
[embedding]
size = 6
[encoder]
cell = "gru"
size = 6
sentence_encoding_from = "backward"
dropout = 0.1
[decoder]
cell = {{kind = "lstm", forget_bias = 0}}
size = 8
layer_norm = true
input_feeding = true
dropout = {{kind = "variational", probability = 0.1, recurrent = 0.2}}
scheduled_sampling = {{kind = "linear", updates = 20, min_probability = 0.3, draw = "argmax"}}
[attention]
score = "general"
window = {{kind = "local-p", radius = 4}}
[output]
kind = "sampled"
proposal = {{kind = "partition", words = 15}}
[guided_alignment]
kind = "learn"
weight = 0.3
{TRAINING}
optimizer = {{kind = "adadelta", learning_rate = 1.0, epsilon = 1e-4}}
moving_average = 0.9
reduction = "sum_per_sentence"
clip_norm = 5.0
clip_value = 0.5
batch_tokens = 40
validate_every = 8
"""

NOISE_CONTRASTIVE = f"""{TEXT}
steps = 8
windows = "random"
{WORDS}
[embedding]
size = 6
dropout = {{kind = "variational", probability = 0.1, words = 0.1}}
[recurrence]
cell = "gru"
layers = 2
size = 8
dropout = 0.2
[output]
kind = "nce"
noise_samples = 10
{TRAINING}
optimizer = {{kind = "rmsprop", learning_rate = 0.01, momentum = 0.5, centered = true, epsilon = 1e-4}}
schedule = {{kind = "decay", half_life = 2}}
batch_tokens = 40
save_every = 4
"""

AVERAGED_SGD = f"""{TEXT}
steps = 8
{WORDS}
[embedding]
size = 8
[recurrence]
cell = "lstm"
size = 8
dropout = {{kind = "variational", probability = 0.2, recurrent = 0.2}}
weight_dropout = 0.2
activation_regularization = 2.0
temporal_activation_regularization = 1.0
truncation = {{kind = "window", steps = 3}}
[output]
tied = true
[initializer]
kind = "uniform"
range = 0.1
{TRAINING}
optimizer = {{kind = "averaged-sgd", learning_rate = 12.0, weight_decay = 1e-5, interval = 1}}
schedule = "constant"
clip_norm = 0.5
batch_tokens = 40
validate_every = 2
patience = 0
"""

SENTENCES = f"""
reads = "sentences"
{TEXT}{WORDS}
[embedding]
kind = "character-cnn"
character_size = 4
max_kernel = 3
filters = 2
dropout = 0.1
[recurrence]
cell = "elman"
size = 8
dropout = 0.1
[output]
kind = "sampled"
proposal = {{kind = "log-uniform", words = 10}}
{TRAINING.replace("fp32", "bf16")}
optimizer = {{kind = "momentum", learning_rate = 0.2, nesterov = true}}
schedule = {{kind = "halving", after = 1}}
batch_tokens = 50
"""

WINDOW = f"""
model = "feed-forward"
{TEXT}
steps = 8
{WORDS}
[embedding]
size = 6
dropout = 0.1
[network]
kind = "feed-forward"
words = 3
size = 8
dropout = 0.2
[output]
kind = "class-factored"
{TRAINING}
optimizer = {{kind = "sgd", learning_rate = 0.5}}
schedule = {{kind = "inverse-root", warmup = 4}}
batch_tokens = 40
"""

LAZY_ADAM = f"""{TEXT}
steps = 8
{WORDS}
[embedding]
size = 6
[recurrence]
cell = "lstm"
size = 8
{TRAINING}
optimizer = {{kind = "lazy-adam", learning_rate = 0.02, epsilon = 1e-3}}
batch_tokens = 40
"""

RUNS = {
    "dropout": (DROPOUT, 13),
    "moving-average": (MOVING_AVERAGE, 12),
    "noise-contrastive": (NOISE_CONTRASTIVE, 10),
    "averaged-sgd": (AVERAGED_SGD, 11),
    "sentences": (SENTENCES, 12),
    "window": (WINDOW, 9),
    "lazy-adam": (LAZY_ADAM, 10),
}
"""The experiments, and after how many updates each is stopped, which is within an epoch."""

SOURCES = ("the cat sees my child .", "my horse follows a dog !", "the old man and a bird seeks the boat today .")


def make(place: Path) -> None:
    """Make the runs and put their folders, less what is made again when it is needed, in ``place``."""
    here = Path.cwd()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_data()
        finished = {}
        for name, (text, updates) in RUNS.items():
            run, stops = Path(name), iter([False] * updates + [True])
            anaphora.train(relative(text, name), run, print, stop=lambda stops=stops: next(stops))
            shutil.rmtree(run / "encoded")
            (run / "lock").unlink()
            (run / "checkpoints" / (run / "best").read_text().strip() / "optimizer.safetensors").unlink()
            finished[name] = resumed(run, Path("finished", name))
        shutil.rmtree("finished")
        Path("finished.json").write_text(json.dumps(finished, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        os.chdir(here)
        shutil.copytree(folder, place)


def relative(text: str, name: str) -> anaphora.ExperimentBase:
    """The experiment with its files named from here, so that no path of this machine is stored."""
    experiment = anaphora.read_experiment(text, name)
    files = tuple(Path(file).name for file in experiment.data.files)
    return experiment.model_copy(update={"data": experiment.data.model_copy(update={"files": files})})


def write_data() -> None:
    """A text and pairs, tokens between spaces."""
    subjects = (
        ("the cat", "le chat"),
        ("a dog", "un chien"),
        ("my horse", "mon cheval"),
        ("the old man", "le vieil homme"),
    )
    verbs = ("sees", "voit"), ("seeks", "cherche"), ("follows", "suit")
    objects = (
        ("a bird", "un oiseau"),
        ("the boat", "le bateau"),
        ("my child", "mon enfant"),
        ("the garden", "le jardin"),
    )
    endings = (
        (".", "."),
        ("today .", "aujourd' hui ."),
        ("!", "!"),
        ("and a small red book .", "et un petit livre rouge ."),
    )
    sentences = [(words, endings[number % 7 % 4]) for number, words in enumerate(product(subjects, verbs, objects))]
    pairs = [
        [" ".join((*(word[side] for word in words), ending[side])) for side in (0, 1)] for words, ending in sentences
    ]
    for folder in "text", "pairs":
        Path(folder).mkdir()
    for name, some in ("train", [pair for n, pair in enumerate(pairs) if n % 5]), ("valid", pairs[::5]):
        sources, targets = zip(*some, strict=True)
        write_lines(Path(f"text/{name}.txt"), sources)
        write_lines(Path(f"pairs/{name}.en"), sources)
        write_lines(Path(f"pairs/{name}.fr"), targets)


def resumed(stored: Path, run: Path) -> dict[str, Any]:
    """Copy the run ``stored``, whose data lies beside it, to ``run``, resume it to its end, and say what that gave."""
    shutil.copytree(stored, run)
    text = (run / "experiment.toml").read_text()
    data = [stored.parent / name for name in tomllib.loads(text)["data"]["files"]]
    outcome = anaphora.train(anaphora.read_experiment(text, str(run), data=data), run, resume=True)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    model = anaphora.load(run)
    translate = isinstance(model, anaphora.TranslationPredictor)
    latest, best = ((run / name).read_text().strip() for name in ("latest", "best"))
    kept = {key: tensor for name in {latest, best} for key, tensor in tensors(run / "checkpoints" / name).items()}
    return {
        "reason": outcome.reason,
        "update": outcome.update,
        "log": [{key: value for key, value in line.items() if key != "seconds"} for line in lines],
        "translations": [output.text for output in model.translate(SOURCES)] if translate else [],
        "latest": latest,
        "best": best,
        "sha256": {name: sha256(tensor.numpy()).hexdigest() for name, tensor in kept.items()},
        "norms": {name: float(tensor.double().norm()) for name, tensor in kept.items()},
    }


def tensors(checkpoint: Path) -> dict[str, torch.Tensor]:
    """Every tensor in a checkpoint, by ``step-N/file/name``."""
    return {
        f"{checkpoint.name}/{file.stem}/{key}": tensor
        for file in sorted(checkpoint.glob("*.safetensors"))
        for key, tensor in sorted(load_file(file).items())
    }


if __name__ == "__main__":
    make(Path(__file__).parent / f"halfway-{FORMAT}")
