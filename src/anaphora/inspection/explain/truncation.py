"""Truncated backpropagation through time: the terms that are kept and cut, in both meanings."""

from anaphora.inspection.explain.bptt import W_HH, W_HY, X, Y, forward, kernel_gradients
from anaphora.inspection.explain.lesson import Board, Lesson, n

K = 2
"""Steps of a chunk, and of the backward pass of a window."""


def truncation() -> Lesson:
    """dL_t/dW_hh is a sum of one term for each step s up to t; truncation leaves some of them out."""
    values, steps = forward(), len(X)
    h = values.h
    kept: dict[str, float] = {"full": 0.0, "chunk": 0.0, "window": 0.0}
    table = Board(
        "Terms",
        f"T(t, s) is what L_t sends to W_hh as it was used at step s. Chunks of {K} steps keep it where s and t are in "
        f"the same chunk; windows of k = {K - 1} where s is at least t - {K - 1}.",
    )
    for t in range(1, steps + 1):
        y, p = Y[t - 1], values.p[t - 1]
        arriving = sum(w * (p[k] - (k == y)) for k, w in enumerate(W_HY))
        for s in range(t, 0, -1):
            delta = (1 - h[s] ** 2) * arriving
            term = delta * h[s - 1]
            in_chunk, in_window = (t - 1) // K == (s - 1) // K, s >= t - (K - 1)
            path = " ".join(f"(1 - h_{j}^2)" + (" W_hh" if j > s else "") for j in range(t, s - 1, -1))
            keeps = {"chunk": in_chunk, "window": in_window}
            marks = ", ".join(f"{name} {'keeps' if kept_too else 'cuts'} it" for name, kept_too in keeps.items())
            table.number(f"T({t}, {s})", f"dL_{t}/dh_{t} {path} h_{s - 1}", marks, term)
            kept["full"] += term
            kept["chunk"] += term * in_chunk
            kept["window"] += term * in_window
            arriving = W_HH * delta
    sums = Board("dW_hh")
    for name, value in kept.items():
        sums.number(f"dW_hh, {name}", {"full": "all terms"}.get(name, f"the terms that the {name} keeps"), "", value)
    whole = kept["full"]
    sums.number("cut by chunks", "full - chunk", f"{n(whole)} - {n(kept['chunk'])}", whole - kept["chunk"])
    sums.number("cut by windows", "full - window", f"{n(whole)} - {n(kept['window'])}", whole - kept["window"])
    found = {
        "full": kernel_gradients()[1],
        "chunk": kernel_gradients(chunk=K)[1],
        "window": kernel_gradients(back=K - 1)[1],
    }
    return Lesson(
        "Truncated backpropagation through time, by hand",
        "The network and the numbers of the lesson bptt. Chunks: windows of text whose state is carried while the "
        "gradient stops at the border. Windows: every loss goes back the same number of steps.",
        (table.section, sums.section),
        max(abs(kept[name] - float(gradients["dW_hh"])) for name, gradients in found.items()),
    )
