"""Makes the stored runs of a new format from those of the format before.

    python -m tests.runs.make

It is run once for every new format, never again for an old one: what was stored must load, answer and go on for ever
as it did. Each run is trained anew by its stored experiment, on the data beside it, as far as the stored one was; of
what that leaves, the files are kept that were stored. ``format-N`` is a translator, ``kinds-N`` has a run of every
other kind, and ``halfway-N`` has runs that are stopped within an epoch and cover what the next update depends on:
random draws, averages of the weights, carried state, optimizers and schedules. The texts are all our own.
"""

import json
import math
import shutil
import tempfile
import tomllib
from contextlib import chdir
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import tomli_w
import torch
from safetensors.torch import load_file

import anaphora
from anaphora.formats.lines import write_lines
from anaphora.formats.pharaoh import to_pharaoh
from anaphora.run.manifest import FORMAT
from anaphora.samples import english_french

HERE = Path(__file__).parent
SOURCES = ("the cat sees my child .", "my horse follows a dog !", "the old man and a bird seeks the boat today .")
"""What translators of ``halfway-N`` translate once they are finished."""


def make(before: int, place: Path) -> None:
    """Put the folders of the present format in ``place``, after those of the format ``before``."""
    torch.set_num_threads(1)
    for stem, answers_of in (("format", translations), ("kinds", figures), ("halfway", finished)):
        stored = HERE / f"{stem}-{before}"
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            write_data(stored)
            made = Path("run" if stem == "format" else ".")
            names: dict[str, str] = {}
            for experiment in sorted(stored.glob("**/experiment.toml")):
                run = experiment.parent.relative_to(stored)
                train_again(experiment.parent, made / run)
                for pointer in filter(Path.exists, (experiment.with_name("best"), experiment.with_name("latest"))):
                    names[str(run / checkpoint_of(pointer))] = str(run / checkpoint_of(made / run / pointer.name))
            for file in stored.glob("*.json"):
                answers = json.dumps(answers_of(json.loads(file.read_text())), indent=1, ensure_ascii=False)
                (made / file.name).write_text(f"{answers}\n")
            for file in (file.relative_to(stored) for file in stored.rglob("*") if file.is_file()):
                kept = Path(names.get(str(file.parent), str(file.parent))) / file.name
                (place / f"{stem}-{FORMAT}" / kept).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(made / kept, place / f"{stem}-{FORMAT}" / kept)


def checkpoint_of(pointer: Path) -> str:
    """Return the folder that ``best`` or ``latest`` names."""
    return f"checkpoints/{pointer.read_text().strip()}"


def write_data(stored: Path) -> None:
    """Copy the data beside stored runs, and write again what is not stored."""
    english_french.write(Path("corpus"), train=4000)
    Path("pairs").mkdir()
    pairs = english_french.corpus(1, train=32, valid=0, test=0).train
    for name, some in ("train", pairs[:24]), ("valid", pairs[24:]):
        write_lines(Path(f"pairs/{name}.en"), (" ".join(pair.source_words).lower() for pair in some))
        write_lines(Path(f"pairs/{name}.fr"), (" ".join(pair.target_words).lower() for pair in some))
    for name in "text", "pairs":
        if (stored / name).is_dir():
            shutil.copytree(stored / name, name, dirs_exist_ok=True)


def train_again(stored: Path, run: Path) -> None:
    """Train a run by the experiment of a stored one, to its latest update."""
    table = tomllib.loads((stored / "experiment.toml").read_text())
    if "interpolation" in table:  # all else follows from its runs
        chosen = {name: table["interpolation"][name] for name in ("runs", "cache")}
        table = {name: table[name] for name in ("task", "model", "data")} | {"interpolation": chosen}
    experiment = anaphora.read_experiment(tomli_w.dumps(table), stored.name)
    files = tuple(Path(file).name for file in experiment.data.files)  # so that no path of this machine is stored
    data = experiment.data.model_copy(update={"files": files})
    asked, latest = count(1), stored / "latest"
    updates = int(latest.read_text().strip().removeprefix("step-")) if latest.exists() else math.inf
    anaphora.train(experiment.model_copy(update={"data": data}), run, print, stop=lambda: next(asked) > updates)


def translations(stored: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Translations of the sentences that the stored translator has translated."""
    sources = [one["source"] for one in stored]
    outputs = zip(sources, anaphora.load("run").translate(sources), strict=True)
    return [{"source": source, "text": output.text, "score": output.score} for source, output in outputs]


def figures(stored: dict[str, Any]) -> dict[str, Any]:
    """Scores and links of the texts that the stored runs have read."""
    found = {name: stored[name] for name in ("lines", "sources", "targets")}
    for name in "language-model", "counts", "mixture":
        found[name] = [line.log10 for line in anaphora.load(name).score_lines(stored["lines"])]
    found["aligner"] = list(map(to_pharaoh, anaphora.load("aligner").align(stored["sources"], stored["targets"])))
    return found


def finished(stored: dict[str, Any]) -> dict[str, Any]:
    """What finishing each run gives."""
    return {name: resumed(Path(name), Path("finished", name)) for name in sorted(stored)}


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
    make(FORMAT - 1, HERE)
