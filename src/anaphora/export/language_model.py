"""Recurrent language models as one graph: a step that reads a token."""

from anaphora.export.graph import Graph, Graphs
from anaphora.export.parts import Parts
from anaphora.export.step import add_step
from anaphora.export.tokens import tokens_of
from anaphora.models.language_model import LanguageModel
from anaphora.tasks.task import Trained

_CONTINUED = 40
"""Tokens that a text is continued by, at most."""


def graphs_of(trained: Trained) -> Graphs:
    """The graph of a language model. Raises ConfigError for what has no operators."""
    model, step = trained.model, Graph("step")
    assert isinstance(model, LanguageModel)
    stack = model.recurrence
    parts = Parts(step, "recurrence.weights.", stack.weights.tensors(), {})
    add_step(parts, stack.program, ("embedding", model.embedding), model.output)
    config = {
        "answers": "text",
        "reads": "text",
        "memory": [],
        "state": list(stack.program.carried),
        "initial": {name: rows[0].tolist() for name, rows in stack.initial_state(1).items()},
        "bos": model.stepper().bos,
        "longest": [[1, _CONTINUED]],
        "search": {"beam": 1, "length_penalty": 0.0},
        "tokenizers": {"text": tokens_of(trained, trained.tokenizers["text"])},
    }
    return Graphs({"step": step.model()}, config)
