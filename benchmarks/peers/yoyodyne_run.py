"""Train Yoyodyne 0.5.27 for some user seconds of processor time, and print its accuracy on a file along the way.

    python benchmarks/peers/yoyodyne_run.py hard TRAIN VALID --seconds 20 40 60

Files are tables of SIGMORPHON 2017: lemma, form and features between tabs. VALID is looked at after the epoch that
reaches each of the seconds, and at once after the last; each time gives a line of JSON: user seconds of training so
far, without the start and without validations, epochs, accuracy. Features have an encoder of their own; all else is as
the package has it, or with --published as its example of the model. Runs in an environment of its own (README.md
beside this file).
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import torch
import yaml
from lightning.pytorch import Callback, LightningModule, Trainer
from yoyodyne.cli.main import python_interface

MODELS = {
    "pointer-generator": {"class_path": "yoyodyne.models.PointerGeneratorLSTMModel", "init_args": {}},
    "hard": {"class_path": "yoyodyne.models.HardAttentionLSTMModel", "init_args": {"enforce_monotonic": True}},
}
# Embedding and units of configs/pointer_generator_lstm.yaml and configs/hard_attention_lstm.yaml in CUNY-CL/yoyodyne.
PUBLISHED = {"pointer-generator": (300, 100), "hard": (200, 400)}

NEVER = 1_000_000_000


class Meter(Callback):
    """Validations after some user seconds, each with a line of accuracy, and the end of training after the last.

    A validation decodes freely, where the package feeds the right symbols to its pointer-generator.
    """

    def __init__(self, seconds: list[float]) -> None:
        self.seconds = seconds
        self.spent, self.mark = 0.0, 0.0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        self.mark = os.times().user

    def on_train_batch_end(self, trainer: Trainer, *_: object) -> None:
        now = os.times().user
        self.spent, self.mark = self.spent + now - self.mark, now
        trainer.check_val_every_n_epoch = 1 if self.spent >= min(self.seconds) else NEVER
        trainer.should_stop |= self.spent >= max(self.seconds)

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        pl_module.teacher_forcing = False

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        pl_module.teacher_forcing = True
        self.mark = os.times().user
        self.seconds = [second for second in self.seconds if second > self.spent] or [self.spent]
        accuracy = round(float(trainer.callback_metrics["val_accuracy"]), 4)
        line = {"seconds": round(self.spent, 1), "epochs": trainer.current_epoch + 1, "accuracy": accuracy}
        print(json.dumps(line), flush=True)


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("train")
    parser.add_argument("valid")
    parser.add_argument("--seconds", type=float, nargs="+", required=True)
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)

    encoder, model = {}, MODELS[options.model]
    if options.published:
        embedding, units = PUBLISHED[options.model]
        encoder = {"dropout": 0.3, "embedding_size": embedding, "hidden_size": units}
        model["init_args"] |= {"decoder_dropout": 0.3, "embedding_size": embedding, "decoder_hidden_size": units}
    for name in ("source_encoder", "features_encoder"):
        model["init_args"][name] = {"class_path": "yoyodyne.models.modules.LSTMEncoder", "init_args": encoder}
    with tempfile.TemporaryDirectory() as folder:
        config = {
            "seed_everything": options.seed,
            "data": {"model_dir": folder, "train": options.train, "val": options.valid, "features_col": 3},
            "checkpoint": {"dirpath": folder, "save_top_k": 0},
            "trainer": {
                "accelerator": "cpu",
                "max_epochs": -1,
                "check_val_every_n_epoch": NEVER,
                "num_sanity_val_steps": 0,
                "enable_progress_bar": False,
                "callbacks": [{"class_path": "__main__.Meter", "init_args": {"seconds": options.seconds}}],
            },
            "model": model,
        }
        path = Path(folder) / "config.yaml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        python_interface(["fit", "--config", str(path)])


if __name__ == "__main__":
    main()
