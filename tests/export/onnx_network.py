"""An exported network in onnxruntime, one sequence at a time."""

from typing import Any

import numpy as np
import onnxruntime
import torch

from anaphora.batch import Batch, FeaturedIds, Grid, Ids, SpeltIds, Values
from anaphora.export.networks import graphs_of
from anaphora.protocols import SearchStart, Step
from tests.inference.native import rows_of

Arrays = dict[str, Any]


def feeds_of(inputs: Any) -> Arrays:
    """What graphs read of a sequence."""
    match inputs:
        case SpeltIds():
            open_NL = np.arange(inputs.characters_NL.shape[1]) < inputs.lengths_N[:, None]
            characters = np.where(open_NL, inputs.characters_NL, -1)[inputs.words_BT[0]]
            return {"ids": inputs.ids_BT[0], "characters": characters}
        case FeaturedIds(features_BF=features_BF):
            return {"ids": inputs.ids_BT[0], "features": features_BF[0][features_BF[0] != 0]}
        case Ids():
            return {"ids": inputs.ids_BT[0]}
        case Values():
            return {"values": inputs.values_BTD[0]}
        case Grid():
            return {"values": inputs.values_BSD[0]}
    raise AssertionError(inputs)


class OnnxNetwork:
    """The graphs of a network; a Stepper, where they are those of one."""

    def __init__(self, model: torch.nn.Module) -> None:
        models, self.config = graphs_of(model)
        self.sessions = {name: onnxruntime.InferenceSession(one.SerializeToString()) for name, one in models.items()}

    def run(self, name: str, feeds: Arrays) -> Arrays:
        session = self.sessions[name]
        outputs, inputs = ([one.name for one in some] for some in (session.get_outputs(), session.get_inputs()))
        return dict(zip(outputs, session.run(outputs, {name: feeds[name] for name in inputs}), strict=True))

    def start(self, batch: Batch) -> SearchStart:
        before = {f"state {name}": np.array([row], np.float32) for name, row in self.config.get("initial", {}).items()}
        if "encoder" in self.sessions:
            before = self.run("encoder", feeds_of(batch.inputs))
        return SearchStart({name: before.pop(name) for name in self.config["memory"]}, before, np.ones(1, np.int64))

    def next(self, memory: Arrays, state: Arrays, **read: Any) -> tuple[Arrays, Arrays]:
        """All that a step returns, and the state after it."""
        found = self.run("step", {**memory, **state, **read})
        return found, {f"state {name}": found[f"next {name}"] for name in self.config["state"]}

    def advance(self, memory: Arrays, state: Arrays, ids_N: Any) -> Step:
        found, after = self.next(memory, state, ids=ids_N)
        return Step(found["log_probs"], found.get("weights"), after)

    def select(self, state: Arrays, rows_N: Any) -> Arrays:
        return {name: rows[rows_N] for name, rows in state.items()}


def assert_near(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def assert_same_steps(model: Any, batch: Batch) -> None:
    """Both give the same probabilities and attention after the same tokens, two hypotheses side by side."""
    network, stepper = OnnxNetwork(model), model.stepper()
    assert network.config["bos"] == stepper.bos
    ids_TN = np.random.default_rng(2).integers(4, stepper.size, (4, 2))
    for row in range(batch.size):
        ways = [(one, one.start(rows_of(batch, slice(row, row + 1)))) for one in (network, stepper)]
        states = [way.select(start.state, np.zeros(2, np.int64)) for way, start in ways]
        for ids_N in [np.array([stepper.bos] * 2), *ids_TN]:
            steps = [way.advance(start.memory, state, ids_N) for (way, start), state in zip(ways, states, strict=True)]
            states = [step.state for step in steps]
            found, wanted = steps
            assert_near(found.log_probs_NV, wanted.log_probs_NV)
            assert (found.weights_NS is None) == (wanted.weights_NS is None)
            if wanted.weights_NS is not None:
                assert_near(found.weights_NS, wanted.weights_NS[:, : found.weights_NS.shape[1]])
