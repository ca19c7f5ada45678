"""``python -m benchmarks.strokes FOLDER RUNS``: what recurrence and a mixture density are worth on pen strokes.

Trains prediction networks with a mixture density and with squared error on the corpus of the recipe ``strokes`` in
FOLDER, and fits mixtures of Gaussians without recurrence to the same offsets by expectation maximization. Prints the
log-likelihood of the test split in nats a point, offsets in standard deviations of the training split. The flags of
strokes are left out, since only the networks predict them from what came before.
"""

import argparse
from collections.abc import Iterator
from math import log, pi
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.experiment.reading import read_experiment
from anaphora.experiment.run_training import train
from anaphora.tasks.evaluation import Request
from anaphora.tasks.registry import find_tasks, task_of
from anaphora.tasks.runs import experiment_of

Floats = np.ndarray[Any, np.dtype[np.float64]]

EXPERIMENT = """
task = "trace"
model = "prediction"
recurrence = { size = 100 }
[training]
optimizer = { kind = "adam", learning_rate = 0.004 }
schedule = { kind = "decay", half_life = 1 }
batch_tokens = 1500
epochs = 2
patience = 0
precision = "fp32"
"""
OUTPUTS = {"mixture density": 'output = "mixture"', "squared error": 'output = "squared-error"'}
COMPONENTS = (1, 20, 50)
FITTED = 20_000
"""Training points that mixtures without recurrence are fitted to, evenly spaced."""
MIN_DEVIATION = 0.01
"""As ``output.min_deviation``, so that no likelihood grows by a narrower Gaussian than the others may have."""


def main() -> None:
    """Train what is not there yet, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.strokes", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    given = parser.parse_args()
    run = given.runs
    for seed in given.seeds:
        for name, output in OUTPUTS.items():
            run = given.runs / f"{name.replace(' ', '-')}-{seed}"
            if not run.exists():
                settings = [output, f"training.seed={seed}"]
                train(read_experiment(EXPERIMENT, "strokes", settings, data=[given.folder]), run)
            [scored] = find_tasks("trace")[0].evaluate([run], Request(keep=False), lambda event: None).scored
            found = scored.results["test"].json()
            likelihood = found["log_likelihood"] - found["flag_log_likelihood"]
            print(
                f"{name}, seed {seed}: {likelihood:.3f} nats a point, squared error {found['squared_error']:.3f}",
                flush=True,
            )
    experiment: Any = experiment_of(run)
    task: Any = task_of(experiment)
    splits, scale = task.splits(experiment), experiment.scale
    train_ND, test_ND = (
        np.concatenate([scale.encode(trace)[1:, :2] for trace in split.examples()])
        for split in (splits.train, splits.tests["test"])
    )
    train_ND = train_ND[:: max(1, len(train_ND) // FITTED)]
    for components in COMPONENTS:
        for seed in given.seeds:
            *_, mixture = _fitted(train_ND, components, seed)
            print(f"{components} Gaussians, seed {seed}: {_log_joint(test_ND, *mixture)[1].mean():.3f} nats a point")


def _fitted(x_ND: Floats, components: int, seed: int, rounds: int = 40) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Weights, means and covariances after each round of expectation maximization."""
    source = np.random.default_rng(seed)
    means_KD = x_ND[source.choice(len(x_ND), components, replace=False)]
    covariances_KDD = np.tile(np.cov(x_ND.T), (components, 1, 1))
    weights_K = np.full(components, 1 / components)
    for _ in range(rounds):
        joint_NK, log_probs_N = _log_joint(x_ND, weights_K, means_KD, covariances_KDD)
        share_NK = np.exp(joint_NK - log_probs_N[:, None])
        total_K = share_NK.sum(0) + 1e-9
        weights_K, means_KD = total_K / total_K.sum(), share_NK.T @ x_ND / total_K[:, None]
        off_NKD = x_ND[:, None] - means_KD
        covariances_KDD = np.einsum("nk,nki,nkj->kij", share_NK, off_NKD, off_NKD) / total_K[:, None, None]
        covariances_KDD += MIN_DEVIATION**2 * np.eye(x_ND.shape[1])
        yield weights_K, means_KD, covariances_KDD


def _log_joint(x_ND: Floats, weights_K: Floats, means_KD: Floats, covariances_KDD: Floats) -> tuple[Floats, Floats]:
    """ln of the weight times the density of each component, and of their sum."""
    off_NKD = x_ND[:, None] - means_KD
    square_NK = np.einsum("nki,kij,nkj->nk", off_NKD, np.linalg.inv(covariances_KDD), off_NKD)
    logs_K = np.log(weights_K) - 0.5 * np.linalg.slogdet(covariances_KDD)[1] - log(2 * pi) * x_ND.shape[1] / 2
    joint_NK = logs_K - 0.5 * square_NK
    return joint_NK, np.logaddexp.reduce(joint_NK, axis=1)


if __name__ == "__main__":
    main()
