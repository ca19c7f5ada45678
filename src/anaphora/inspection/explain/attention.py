"""One step of a decoder with attention: score, softmax, context, state, word."""

from math import exp

import numpy as np
import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import Lesson, leaf
from anaphora.kernels.linear import linear
from anaphora.kernels.parts import Activate, Project
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.nn.attention import AttentionConfig, SoftAttention
from anaphora.nn.encoders.encoder import EncoderSpec

SOURCE = ("Je", "suis", "étudiant")
ANNOTATIONS = ((1.0, 0.2), (0.1, 1.2), (-0.6, 0.9))
QUERY = (1.5, -0.5)
W_GENERAL = ((1.0, 0.5), (0.0, 1.0))
W_CONTEXT, W_STATE = ((0.8, 0.1), (0.2, 0.7)), ((0.5, -0.3), (0.1, 0.4))
WORDS = ("I", "am", "student")
W_VOCABULARY = ((1.5, 0.2), (-0.4, 1.0), (-1.0, 0.3))


def attention() -> Lesson:
    """Luong et al. (2015), score "general": a = softmax(h' W hs), c = sum a hs, htilde = tanh(W_c c + W_h h)."""
    lesson = Lesson(
        "Attention, by hand", f'Luong, Pham and Manning (2015), score "general". The source is "{" ".join(SOURCE)}".'
    )
    values, places = lesson.values, range(1, len(SOURCE) + 1)
    lesson.section("Given", "The decoder's state h asks the annotations hs of the source words.")
    lesson.add_values(h=QUERY, **{f"hs_{s} ({word})": ANNOTATIONS[s - 1] for s, word in enumerate(SOURCE, 1)})
    for name, rows in (("", W_GENERAL), ("c", W_CONTEXT), ("h", W_STATE)):
        lesson.add_values(**{f"W_{name}{number}": row for number, row in enumerate(rows, 1)})
    lesson.add_values(**{f"W_{word}": row for word, row in zip(WORDS, W_VOCABULARY, strict=True)})
    values |= {f"hs_{s}": np.array(row) for s, row in enumerate(ANNOTATIONS, 1)}
    values |= {"hs": np.transpose(ANNOTATIONS), "W": W_GENERAL, "W_c": W_CONTEXT, "W_h": W_STATE}
    lesson.section("Score")
    for s in places:
        lesson.row(f"W hs_{s}", f"W hs_{s}", words="W times the annotation")
    for s in places:
        lesson.row(f"e_{s}", f"h W hs_{s}", words=f"h' W hs_{s}")
    lesson.section("Softmax")
    values |= {f"exp e_{s}": exp(values[f"e_{s}"]) for s in places}
    lesson.row("sum", " + ".join(f"exp e_{s}" for s in places))
    for s in places:
        lesson.row(f"a_{s}", f"exp e_{s} / sum")
    values |= {"a": np.array([values[f"a_{s}"] for s in places]), "W_vocabulary": W_VOCABULARY}
    lesson.section("Context, state and word")
    lesson.row("c", "hs a", words="sum over s of a_s hs_s")
    lesson.steps({"u": "W_c c + W_h h", "htilde": "tanh(u)", "s": "W_vocabulary htilde", "p": "softmax(s)"}, 0)
    lesson.row("word", "the most probable", WORDS[values["p"].argmax()])
    return lesson.check(["a", "c", "htilde", "p"], _by_kernels())


def _by_kernels() -> list[Tensor]:
    """Return the weights, the context, the state and the probabilities."""
    soft = SoftAttention(AttentionConfig(), len(QUERY), EncoderSpec(2, 2, 1, ("h",), True))
    parts = (
        *soft.parts("h"),
        Project("of_context", "context", "one", False),
        Project("of_state", "h", "other", False),
        Activate("combine", ("one", "other"), "htilde"),
    )
    [name] = soft.matrices()
    weights = {name: leaf(W_GENERAL)}
    weights |= {"of_context.weight": leaf(W_CONTEXT), "of_state.weight": leaf(W_STATE)}
    memory = soft.prepare(leaf([ANNOTATIONS]), torch.tensor([len(SOURCE)]), weights)
    program = Program(parts, ("weights", "context", "htilde"))
    with torch.no_grad():
        outputs = scan(program, {"h": leaf([[QUERY]])}, {}, weights, memory, torch.tensor([1])).outputs
        p = torch.softmax(linear(outputs["htilde"], leaf(W_VOCABULARY)), -1)
    return [outputs["weights"], outputs["context"], outputs["htilde"], p]
