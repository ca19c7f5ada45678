"""Train Yoyodyne 0.5.27 for some minutes of processor time, and print its accuracy on a test file as a line of JSON.

    python benchmarks/peers/yoyodyne_run.py soft TRAIN VALID TEST --minutes 10

Files are tables of SIGMORPHON 2017: lemma, form and features between tabs. The checkpoint with the best accuracy on
VALID is kept, which is looked at after each epoch; what that costs counts as training, as it does on our side. All else
is as the package has it, features in an encoder of their own, unless an option says otherwise. Runs in an environment
of its own (README.md beside this file).
"""

import argparse
import json
import random
import tempfile
import time
from pathlib import Path

import torch
import yaml
from yoyodyne import models
from yoyodyne.cli.main import python_interface

KINDS = {
    "soft": ("SoftAttentionLSTMModel", {}),
    "pointer-generator": ("PointerGeneratorLSTMModel", {}),
    "hard": ("HardAttentionLSTMModel", {"enforce_monotonic": True}),
    "hard-context": ("HardAttentionLSTMModel", {"enforce_monotonic": True, "attention_context": 2}),
}


def held_out(train: Path, folder: Path, seed: int) -> tuple[Path, Path]:
    """A tenth of the lemmas of a file held out, as two files."""
    rows = train.read_text(encoding="utf-8").splitlines(keepends=True)
    lemmas = sorted({row.split("\t")[0] for row in rows})
    held = set(random.Random(seed).sample(lemmas, max(1, len(lemmas) // 10)))
    paths = folder / "train.tsv", folder / "valid.tsv"
    for path, wanted in zip(paths, (False, True), strict=True):
        path.write_text("".join(row for row in rows if (row.split("\t")[0] in held) is wanted), encoding="utf-8")
    return paths


def config_of(options: argparse.Namespace, folder: Path, train: Path, valid: Path) -> dict:
    """The configuration of a training, as the package reads it."""
    name, init = KINDS[options.kind]
    encoder = {"class_path": "yoyodyne.models.modules.LSTMEncoder", "init_args": {"hidden_size": options.size}}
    return {
        "seed_everything": options.seed,
        "data": {
            "model_dir": str(folder),
            "train": str(train),
            "val": str(valid),
            "features_col": 3,
            "batch_size": options.batch_size,
        },
        "checkpoint": {"dirpath": str(folder), "filename": "best", "monitor": "val_accuracy", "mode": "max"},
        "trainer": {"accelerator": "cpu", "max_epochs": -1, "enable_progress_bar": False},
        "model": {
            "class_path": f"yoyodyne.models.{name}",
            "init_args": init
            | {"source_encoder": encoder, "features_encoder": encoder, "decoder_hidden_size": options.size}
            | {"optimizer": {"class_path": "yoyodyne.optimizers.Adam", "init_args": {"lr": options.learning_rate}}},
        },
    }


def main() -> None:
    """Read the options, train, predict, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("train", type=Path)
    parser.add_argument("valid", help='a file, or "none" for a tenth of TRAIN')
    parser.add_argument("test", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)

    def stop_in_time(self: models.BaseModel, *arguments: object) -> None:
        self.trainer.should_stop |= time.process_time() > 60 * options.minutes

    models.BaseModel.on_train_batch_end = stop_in_time
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, valid = options.train, Path(options.valid)
        if options.valid == "none":
            train, valid = held_out(train, folder, options.seed)
        config = config_of(options, folder, train, valid)
        path, written = folder / "config.yaml", folder / "written.txt"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        python_interface(["fit", "--config", str(path)])
        minutes = time.process_time() / 60
        config["data"] = config["data"] | {"predict": str(options.test)}
        config["prediction"] = {"path": str(written)}
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        python_interface(["predict", "--config", str(path), "--ckpt_path", str(folder / "best.ckpt")])
        outputs = written.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in options.test.read_text(encoding="utf-8").splitlines())
    right = [output == form for output, (_, form, _) in zip(outputs, rows, strict=True)]
    print(json.dumps({"kind": options.kind, "minutes": minutes, "accuracy": sum(right) / len(right)}))


if __name__ == "__main__":
    main()
