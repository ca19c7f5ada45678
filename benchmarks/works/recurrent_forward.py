"""One recurrent layer forward, beside the same in onnxruntime: what encoders and language models do when they are used.

Lengths are equal, since a row of padding costs a runtime with fixed shapes as much as any other.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from anaphora.kernels.cells import AnyCell, Gru, Lstm
from anaphora.kernels.runtime import running
from anaphora.nn.randomness import generator
from anaphora.nn.stack import Stack, StackConfig
from anaphora.nn.weights import Xavier
from anaphora.prediction.runtime import runtime_for
from benchmarks.ours import WARM_UP, parameters
from benchmarks.work import Sample, Setting, Work, peak_mib

SIZE, STEPS = 512, 24
ROWS = 8192
"""Steps of all sentences together that are timed, about."""
CELLS: dict[str, AnyCell] = {"lstm": Lstm(), "gru": Gru(recurrent_bias=True)}
_GATES = {"lstm": 4, "gru": 3}


def forward(cell: str, sentences: int, setting: Setting) -> Sample:
    """Our side."""
    stack = Stack(StackConfig(size=SIZE, cell=CELLS[cell]), SIZE, "forward")
    stack.initialise(Xavier(), generator(setting.seed, "initialise"))
    x_TBD, lengths_B = torch.randn(STEPS, sentences, SIZE), torch.full((sentences,), STEPS)

    def run() -> None:
        stack(x_TBD, lengths_B)

    with torch.inference_mode(), running(runtime_for(precision=setting.precision)):
        return _timed(run, parameters(stack), sentences, setting)


def forward_peer(cell: str, sentences: int, setting: Setting) -> Sample:
    """onnxruntime's, in fp32: its recurrent operators have no other precision."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = setting.threads
    model, weights = _onnx(cell)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    x_TBD = np.random.default_rng(setting.seed).standard_normal((STEPS, sentences, SIZE), dtype=np.float32)
    return _timed(lambda: session.run(["y"], {"x": x_TBD}), weights, sentences, setting)


def _onnx(cell: str) -> tuple[bytes, int]:
    """A graph of one recurrent operator, and how many weights it has."""
    from onnx import TensorProto, helper, numpy_helper

    source, rows = np.random.default_rng(1), _GATES[cell] * SIZE
    shapes = {"w": (1, rows, SIZE), "r": (1, rows, SIZE), "b": (1, 2 * rows)}
    weights = {name: source.uniform(-0.05, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    node = helper.make_node(cell.upper(), ["x", *weights], ["y"], hidden_size=SIZE)
    if cell == "gru":
        node.attribute.append(helper.make_attribute("linear_before_reset", 1))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y"))
    constants = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph([node], "forward", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return model.SerializeToString(), sum(array.size for array in weights.values())


def _timed(run: Callable[[], object], weights: int, sentences: int, setting: Setting) -> Sample:
    repetitions = setting.repetitions(max(ROWS // (sentences * STEPS), 8))
    for _ in range(WARM_UP):
        run()
    began = time.perf_counter()
    for _ in range(repetitions):
        run()
    steps = repetitions * sentences * STEPS
    return Sample(steps, time.perf_counter() - began, {"steps": steps, "parameters": weights}, peak_mib())


def _work(cell: str, sentences: int) -> Work:
    return Work(
        name=f"{cell}-forward-{sentences}",
        measures=f"{cell.upper()} {SIZE} forward, batches of {sentences}, {STEPS} steps each",
        unit="steps",
        peer="onnxruntime, fp32",
        bars={"fp32": 1.3, "bf16": 0.0},
        prepare=lambda: None,
        ours=partial(forward, cell, sentences),
        theirs=partial(forward_peer, cell, sentences),
    )


WORKS = tuple(_work(cell, sentences) for cell in CELLS for sentences in (1, 64))
