"""Run JoeyNMT 2.3.0 on a prepared folder, the current one, and print lines of JSON: what was done and how long.

    train   its own training, stopped after so many updates; the clock is read where an update begins, so start-up,
            validation and checkpoints are not in it, and batches, backward, clipping and the optimizer are
    follow  its own training, stopped after so many minutes of processor time, of which nothing is left out; every so
            many updates a copy of the process, whose time is not counted, translates the test part
    decode  its own prediction of the test part by new weights, with outputs of a forced length

Runs in an environment of its own (README.md beside this file).
"""

import argparse
import json
import logging
import os
import resource
import shutil
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import joeynmt.builders
import joeynmt.prediction
import torch
from joeynmt.config import load_config, parse_global_args
from joeynmt.data import load_data
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager, train


class Enough(Exception):
    """All updates that were asked for are made."""


def timed_training(config: dict, warm_up: int, updates: int) -> dict:
    """The target tokens and the time of ``updates`` updates after the first ``warm_up``."""
    begins, tokens, facts = [], [], {}
    step = TrainManager._train_step

    def timed_step(manager: TrainManager, batch: object) -> tuple:
        begins.append(time.perf_counter())
        if len(begins) > warm_up + updates:
            raise Enough
        tokens.append(batch.ntokens)
        facts.update(sizes(manager.model))
        return step(manager, batch)

    TrainManager._train_step = timed_step
    TrainManager._save_checkpoint = lambda *arguments: None
    with suppress(Enough):
        train(rank=0, world_size=None, cfg=config, skip_test=True)
    amount = sum(tokens[warm_up:])
    return {"amount": amount, "seconds": begins[-1] - begins[warm_up], "size": {"target tokens": amount, **facts}}


def followed_training(config: dict, every: int, minutes: float) -> dict:
    """Print a line after each ``every`` updates, with the test part's translations, until the time is over."""
    step, plateau, outputs = TrainManager._train_step, joeynmt.builders.ReduceLROnPlateau, Path(config["model_dir"])

    def translate(manager: TrainManager, path: Path) -> None:
        *_, test = load_data(config["data"], ["test"])
        arguments = parse_global_args(config, rank=0, mode="train").test
        _, _, texts, *_ = predict(
            manager.model, test, manager.device, n_gpu=0, args=arguments, autocast=manager.autocast
        )
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")

    def followed_step(manager: TrainManager, batch: object) -> tuple:
        updates = manager.stats.steps
        if updates and updates % every == 0:
            used = time.process_time() / 60
            path = outputs / f"{updates}.test"
            if not (child := os.fork()):
                translate(manager, path)
                os._exit(0)
            os.waitpid(child, 0)
            outputs_N = path.read_text(encoding="utf-8").splitlines()
            print(json.dumps({"updates": updates, "minutes": used, "outputs": outputs_N}), flush=True)
            if used > minutes:
                raise Enough
        return step(manager, batch)

    TrainManager._train_step = followed_step
    # which passes an argument that torch no longer takes
    joeynmt.builders.ReduceLROnPlateau = lambda verbose, **arguments: plateau(**arguments)
    with suppress(Enough):
        train(rank=0, world_size=None, cfg=config, skip_test=True)
    return {"minutes": time.process_time() / 60}


def timed_decoding(config: dict, sentences: int, length: int, beam: int) -> dict:
    """Sentences and the time of one prediction; ``predict`` does not pass the least length on, so we do."""
    for side in ("en", "de"):
        lines = Path(f"test.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
        (Path(config["model_dir"]) / f"test.{side}").write_text("".join(lines[:sentences]), encoding="utf-8")
    config["data"]["test"] = str(Path(config["model_dir"]) / "test")
    config["testing"].update(beam_size=beam, max_output_length=length, min_output_length=length, eval_metrics=[])
    joeynmt.prediction.search = partial(joeynmt.prediction.search, min_output_length=length)
    arguments = parse_global_args(config, rank=0, mode="train")
    model, _, _, test = prepare(arguments, rank=0, mode="train")
    begin = time.perf_counter()
    _, _, _, outputs, _, _ = predict(
        model, test, arguments.device, n_gpu=0, args=arguments.test, autocast=arguments.autocast
    )
    seconds = time.perf_counter() - begin
    units = sum(map(len, outputs))
    return {"amount": len(outputs), "seconds": seconds, "size": {"output units": units, **sizes(model)}}


def sizes(model: torch.nn.Module) -> dict:
    """What must agree with the other side."""
    parameters = sum(weight.numel() for weight in model.parameters())
    return {"parameters": parameters, "vocabulary": len(model.trg_vocab)}


def main() -> None:
    """Read the options, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["train", "follow", "decode"])
    parser.add_argument("config", help="a JoeyNMT configuration")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=3)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--every", type=int, default=250)
    parser.add_argument("--minutes", type=float, default=240.0)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--length", type=int, default=14)
    parser.add_argument("--beam", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    logging.disable(logging.INFO)
    config = load_config(options.config)
    config["random_seed"] = options.seed
    config["model_dir"] = tempfile.mkdtemp()
    try:
        if options.verb == "train":
            answer = timed_training(config, options.warm_up, options.updates)
        elif options.verb == "follow":
            answer = followed_training(config, options.every, options.minutes)
        else:
            answer = timed_decoding(config, options.sentences, options.length, options.beam)
    finally:
        shutil.rmtree(config["model_dir"])
    answer["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
