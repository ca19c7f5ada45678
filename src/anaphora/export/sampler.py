#!/usr/bin/env python3
"""Draw with an exported model of pen strokes or signals: needs onnxruntime and numpy, nothing else.

    python sampler.py --bias 1 < texts.txt
    python sampler.py --count 10 --seed 3

Prints a JSON object for each drawing. As a module: ``Sampler(folder).step(..)`` gives the density of the next vector.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from anaphora.export.driver import Arrays, Model, ending_well


class Sampler(Model):
    """A model that predicts vectors, perhaps from a text."""

    def step(self, memory: Arrays, state: Arrays, values: Any) -> tuple[Arrays, Arrays]:
        """Return the density of the next vector after N x width scaled vectors, and the next state."""
        found = self.run("step", {**memory, **state, "values": np.asarray(values, np.float32)})
        return found, {f"state {name}": found.pop(f"next {name}") for name in self.config["state"]}

    def draw(self, text: str = "", *, row: int = 0, seed: int = 0, bias: float = 0.0, length: int = 700) -> Any:
        """Return a drawing as JSON; it depends on the seed and on ``row``, its place among others."""
        pen, mean, deviation = (self.config[name] for name in ("pen", "mean", "deviation"))
        drawn, ended, size = list[Any](), False, len(mean)
        read = np.zeros(size + pen)
        if pen and not text:
            read[:size] = -np.array(mean) / deviation
        memory, state = self.start(self.side("text").encode(text) if "encoder" in self.graphs else [])
        while len(drawn) < length and not ended:
            density, state = self.step(memory, state, [read])
            key = np.array([seed, row], np.uint64)
            counter = np.array([0, 0, 0, len(drawn)], np.uint64)
            source = np.random.Generator(np.random.Philox(key=key, counter=counter))
            uniform, normal = source.random(2 + pen), source.standard_normal(size)
            vector = drawn_from(density, bias, uniform[0], normal)
            flags = uniform[1:] < 1 / (1 + np.exp(-(1 + bias) * density["flags"][0].astype(np.float64)))
            read, ended = np.array([*vector, *flags[:pen]]), bool(flags[-1])
            drawn.append(read)
        rows = np.array(drawn)
        values = (rows[:, :size] * deviation + mean) * ([1, -1] if self.config["upward"] else 1)
        if not pen:
            return {"values": values.tolist(), "ended": ended}
        points = np.cumsum(np.concatenate([np.zeros((1, 2)), values]), 0)
        strokes = np.split(points, np.flatnonzero([0, *rows[:, size]]) + 1)
        return {"text": text, "strokes": [np.round(one, 3).tolist() for one in strokes if len(one)], "ended": ended}


def drawn_from(density: Arrays, bias: float, uniform: float, normal: Any) -> Any:
    """Return a vector of a mixture with less spread (Graves 2013, section 5.4); the expected one without a density."""
    if "log_weights" not in density:
        return density["means"][0].astype(np.float64)
    log_weights, means, log_deviations = (
        density[name][0].astype(np.float64) for name in ("log_weights", "means", "log_deviations")
    )
    weights = np.exp((1 + bias) * (log_weights - log_weights.max()))
    k = min(int((np.cumsum(weights / weights.sum()) <= uniform).sum()), len(weights) - 1)
    if "r" in density:
        r = float(density["r"][0, k])
        normal = np.array([normal[0], np.tanh(r) * normal[0] + normal[1] / np.cosh(r)])
    return means[k] + np.exp(log_deviations[k] - bias) * normal


def main() -> None:
    """Draw each line of standard input, or ``--count`` sequences of a model without texts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", default=str(Path(__file__).parent))
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--bias", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=700)
    asked = parser.parse_args()
    model = Sampler(asked.folder)
    texts = [""] * asked.count
    if model.config["reads"] == "text":
        sys.stdin.reconfigure(encoding="utf-8-sig")  # type: ignore[union-attr]
        texts = [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for row, text in enumerate(texts):
        drawing = model.draw(text, row=row, seed=asked.seed, bias=asked.bias, length=asked.length)
        print(json.dumps(drawing, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    ending_well(main)
