"""One step of a decoder with attention: score, softmax, context, state, word."""

from math import exp, tanh

import torch

from anaphora.inspection.explain.lesson import Board, Lesson, dot, n, products
from anaphora.kernels.linear import linear
from anaphora.kernels.parts import Project
from anaphora.kernels.program import Program
from anaphora.kernels.scan import scan
from anaphora.kernels.sums import Activate
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
    start = Board("Given", "The decoder's state h asks the annotations hs of the source words.")
    start.given(h=QUERY, **{f"hs_{s} ({word})": row for s, (word, row) in _numbered()})
    start.given(W_1=W_GENERAL[0], W_2=W_GENERAL[1], W_c1=W_CONTEXT[0], W_c2=W_CONTEXT[1])
    start.given(W_h1=W_STATE[0], W_h2=W_STATE[1], **{f"W_{w}": row for w, row in zip(WORDS, W_VOCABULARY, strict=True)})
    score = Board("Score")
    keys = [score.vector(f"W hs_{s}", "W times the annotation", _times(W_GENERAL, row)) for s, (_, row) in _numbered()]
    e = [score.number(f"e_{s}", f"h' W hs_{s}", products(QUERY, key), dot(QUERY, key)) for s, key in enumerate(keys, 1)]
    soft = Board("Softmax")
    total = soft.number("sum", "exp e_1 + exp e_2 + exp e_3", " + ".join(n(exp(one)) for one in e), sum(map(exp, e)))
    a = [
        soft.number(f"a_{s}", f"exp e_{s} / sum", f"{n(exp(one))} / {n(total)}", exp(one) / total)
        for s, one in enumerate(e, 1)
    ]
    rest = Board("Context, state and word")
    columns = list(zip(*ANNOTATIONS, strict=True))
    context = rest.vector("c", "sum over s of a_s hs_s", [dot(a, column) for column in columns])
    u = rest.vector(
        "u", "W_c c + W_h h",
        [p + q for p, q in zip(_times(W_CONTEXT, context), _times(W_STATE, QUERY), strict=True)],
    )  # fmt: skip
    state = rest.vector("htilde", "tanh(u)", [tanh(one) for one in u])
    scores = rest.vector("s", "W_vocabulary htilde", _times(W_VOCABULARY, state))
    weight = sum(map(exp, scores))
    p = rest.vector("p", "softmax(s)", [exp(one) / weight for one in scores])
    rest.words("word", "the most probable", WORDS[max(range(len(p)), key=p.__getitem__)])
    return Lesson(
        "Attention, by hand",
        f'Luong, Pham and Manning (2015), score "general". The source is "{" ".join(SOURCE)}".',
        (start.section, score.section, soft.section, rest.section),
        _difference([*a, *context, *state, *p]),
    )


def _numbered() -> list[tuple[int, tuple[str, tuple[float, ...]]]]:
    return list(enumerate(zip(SOURCE, ANNOTATIONS, strict=True), 1))


def _times(rows: tuple[tuple[float, ...], ...], vector: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(dot(row, vector) for row in rows)


def _difference(ours: list[float]) -> float:
    def tensor(rows: object) -> torch.Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    soft = SoftAttention(AttentionConfig(), len(QUERY), EncoderSpec(2, 2, 1, ("h",), True))
    parts = (
        *soft.parts("h"),
        Project("of_context", "context", "one", False),
        Project("of_state", "h", "other", False),
        Activate("combine", ("one", "other"), "htilde"),
    )
    [name] = soft.matrices()
    weights = {name: tensor(W_GENERAL)}
    weights |= {"of_context.weight": tensor(W_CONTEXT), "of_state.weight": tensor(W_STATE)}
    memory = soft.prepare(tensor([ANNOTATIONS]), torch.tensor([len(SOURCE)]), weights)
    program = Program(parts, ("weights", "context", "htilde"))
    with torch.no_grad():
        outputs = scan(program, {"h": tensor([[QUERY]])}, {}, weights, memory, torch.tensor([1])).outputs
        p = torch.softmax(linear(outputs["htilde"], tensor(W_VOCABULARY)), -1)
    theirs = torch.cat([*(outputs[name].flatten() for name in ("weights", "context", "htilde")), p.flatten()])
    return float((theirs - tensor(ours)).abs().max())
