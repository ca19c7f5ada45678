"""One step of a decoder with attention: score, softmax, context, state, word."""

from collections.abc import Iterable, Sequence
from math import exp, tanh

import torch
from torch import Tensor

from anaphora.inspection.explain.lesson import Lesson, Section, as_term, difference, dot, leaf, softmax, total
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
    start = Section("Given", "The decoder's state h asks the annotations hs of the source words.")
    numbered = list(enumerate(zip(SOURCE, ANNOTATIONS, strict=True), 1))
    h, *_ = start.given(h=QUERY, **{f"hs_{s} ({word})": row for s, (word, row) in numbered})
    start.given(W_1=W_GENERAL[0], W_2=W_GENERAL[1], W_c1=W_CONTEXT[0], W_c2=W_CONTEXT[1])
    start.given(W_h1=W_STATE[0], W_h2=W_STATE[1], **{f"W_{w}": row for w, row in zip(WORDS, W_VOCABULARY, strict=True)})
    score, soft, rest = Section("Score"), Section("Softmax"), Section("Context, state and word")
    keys = [
        score.row(f"W hs_{s}", as_term("W times the annotation", _times(W_GENERAL, row))) for s, (_, row) in numbered
    ]
    e = [score.row(f"e_{s}", h @ key, f"h' W hs_{s}") for s, key in enumerate(keys, 1)]
    parts = [as_term(f"exp {one.formula}", exp(one.value)) for one in e]
    whole = soft.row("sum", total(parts))
    a = [soft.row(f"a_{s}", part / whole) for s, part in enumerate(parts, 1)]
    context = rest.row(
        "c", as_term("sum over s of a_s hs_s", _times(zip(*ANNOTATIONS, strict=True), [one.value for one in a]))
    )
    u = as_term("W_c c", _times(W_CONTEXT, context.value)) + as_term("W_h h", _times(W_STATE, QUERY))
    state = rest.row("htilde", as_term("tanh(u)", [tanh(one) for one in rest.row("u", u).value]))
    scores = rest.row("s", as_term("W_vocabulary htilde", _times(W_VOCABULARY, state.value)))
    p = rest.row("p", softmax(scores))
    rest.words("word", "the most probable", WORDS[p.value.argmax()])
    return Lesson(
        "Attention, by hand",
        f'Luong, Pham and Manning (2015), score "general". The source is "{" ".join(SOURCE)}".',
        (start, score, soft, rest),
        difference([*a, context, state, p], _by_kernels()),
    )


def _times(rows: Iterable[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [dot(row, vector) for row in rows]


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
