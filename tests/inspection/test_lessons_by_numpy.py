"""Lessons say what numpy says, with any numbers, and their printed numbers show what they claim."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.linalg import matrix_power, norm, svd

from anaphora.inspection.explain.lesson import lesson

Values = Mapping[str, Any]
Found = dict[str, Any]


def sigm(a: Any) -> Any:
    return 1 / (1 + np.exp(-a))


def normalised(z: Any) -> Any:
    return np.exp(z) / np.exp(z).sum()


def values(name: str, seed: int | None = None) -> Values:
    return {key: line.value for key, line in lesson(name, None, seed).lines.items()}


def softmax(v: Values) -> Found:
    w, right = v["W"], np.eye(3)[v["y"] - 1]
    z = w @ v["h"]
    dz = normalised(z) - right
    losses = {key: -np.log(normalised(z - sign * v["r"] * dz) @ right) for key, sign in (("step", 1), ("slip", -1))}
    found = {"p": normalised(z), "dz": dz, "dW": np.outer(dz, v["h"]), "dh": w.T @ dz}
    return found | {f"L[{key}]": loss for key, loss in losses.items()}


def gru(v: Values) -> Found:
    x, h = v["x"], v["h[0]"]
    r, z = (sigm(v[f"W_{gate}"] @ x + v[f"U_{gate}"] @ h) for gate in "rz")
    before, after = np.tanh(v["W_g"] @ x + v["U_g"] @ (r * h)), np.tanh(v["W_g"] @ x + r * (v["U_g"] @ h))
    found = {f"h_k{key}": z * h + (1 - z) * g for key, g in (("b", before), ("a", after))}
    found |= {f"h_n{key}": z * g + (1 - z) * h for key, g in (("b", before), ("a", after))}

    def keep_before(h: Any) -> Any:
        r, z = (sigm(v[f"W_{gate}"] @ x + v[f"U_{gate}"] @ h) for gate in "rz")
        return v["dh"] @ (z * h + (1 - z) * np.tanh(v["W_g"] @ x + v["U_g"] @ (r * h)))

    return found | {"h_turned": found["h_nb"], "dh[0]": differences(keep_before, h)}


def differences(function: Callable[[Any], Any], at: Any) -> Any:
    """Return the gradient of a function by central differences."""
    at, found = np.array(at, dtype=float), np.zeros(np.shape(at))
    for place in np.ndindex(found.shape):
        e = np.zeros_like(found)
        e[place] = 1e-6
        found[place] = (function(at + e) - function(at - e)) / 2e-6
    return found


def additive(v: Values) -> Found:
    keys = np.array([v[f"k[{s}]"] for s in (1, 2, 3)])

    def context(w: Any, u: Any, h: Any, keys: Any = keys) -> Any:
        return normalised(np.tanh(w @ h + keys @ u.T) @ v["v"]) @ keys

    found = {"c": context(v["W"], v["U"], v["h"])}
    found |= {"dW": differences(lambda w: v["dc"] @ context(w, v["U"], v["h"]), v["W"])}
    found |= {"dU": differences(lambda u: v["dc"] @ context(v["W"], u, v["h"]), v["U"])}
    found |= {"dh": differences(lambda h: v["dc"] @ context(v["W"], v["U"], h), v["h"])}
    of_keys = differences(lambda keys: v["dc"] @ context(v["W"], v["U"], v["h"], keys), keys)
    return found | {f"dk[{s}]": of_keys[s - 1] for s in (1, 2, 3)}


def sgd(v: Values) -> Found:
    words = ("man", "bites", "dog", "sees")

    def loss(table: Any, w_xh: Any, w_hh: Any) -> Any:
        h = v["h[0]"]
        for word in (0, 1, 0):
            h = np.tanh(w_xh @ table[word] + w_hh @ h)
        return norm(h - v["y"]) ** 2 / 2

    given = [np.array([v[f"E[{word}]"] for word in words]), v["W_xh"], v["W_hh"]]
    new = []
    for place in range(3):

        def of_one(one: Any, place: int = place) -> Any:
            return loss(*given[:place], one, *given[place + 1 :])

        new.append(given[place] - v["r"] * differences(of_one, given[place]))
    rows = {f"E[{word},+]": row for word, row in zip(words, new[0], strict=True)}
    return {"L": loss(*given), **rows, "W_xh[+]": new[1], "W_hh[+]": new[2], "L[+]": loss(*new)}


def perplexity(v: Values) -> Found:
    p = v["p"]
    by_line = {"PPL[1]": 1 / p[:4].prod() ** (1 / 4), "PPL[2]": 1 / p[4:].prod() ** (1 / 3)}
    return {"PPL": 1 / p.prod() ** (1 / 7), **by_line, "B[character]": -np.log2(p).sum() / v["characters"]}


def bleu(v: Values) -> Found:
    def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[place : place + n]) for place in range(len(words) - n + 1))

    pairs = [*zip(v["output"], v["reference"], strict=True)]
    m = np.array([[(grams(a, n) & grams(b, n)).total() for n in (1, 2, 3, 4)] for a, b in pairs])
    of = np.array([[grams(a, n).total() for n in (1, 2, 3, 4)] for a, _ in pairs])
    p, penalty = m.sum(0) / of.sum(0), np.exp(1 - sum(v["R"]) / of[:, 0].sum())
    lengths = [len(b.split()) for _, b in pairs]
    return {"m": m, "N": of, "R": lengths, "BP": penalty, "BLEU": 100 * penalty * np.exp(np.log(p).mean())}


def kneser_ney(v: Values) -> Found:
    lines = [["</s>", *line.split(), "</s>"] for line in v["lines"]]
    bigrams = Counter(pair for line in lines for pair in pairwise(line))
    follows = Counter(word for _, word in bigrams)

    def discounts(counts: Any) -> list[float]:
        t = [sum(count == times for count in counts) for times in range(5)]
        y = t[1] / (t[1] + 2 * t[2])
        return [0, 1 - 2 * y * t[2] / t[1], 2 - 3 * y * t[3] / t[2], 3 - 4 * y * t[4] / t[3]]

    def smoothed(counts: Mapping[str, int], below: Callable[[str], float], d: list[float]) -> Callable[[str], float]:
        total, saved = sum(counts.values()), sum(d[min(count, 3)] for count in counts.values())
        return lambda word: (counts.get(word, 0) - d[min(counts.get(word, 0), 3)]) / total + saved / total * below(word)

    words = [*follows, "<unk>"]
    p = smoothed(follows, lambda word: 1 / len(words), discounts(follows.values()))
    after = {context: {b: n for (a, b), n in bigrams.items() if a == context} for context in ("see", "San")}
    d = discounts(bigrams.values())
    found = {f"p[{word}]": p(word) for word in words}
    found |= {f"p[{one},{word}]": smoothed(counts, p, d)(word) for one, counts in after.items() for word in words}
    return {"V": len(words), "S": 1, **{key: one for key, one in found.items() if key in v}}


def crf(v: Values) -> Found:
    e, a = [v[f"e[{t}]"] for t in (1, 2, 3)], v["A"]
    score = {
        y: v["b"][y[0]] + sum(e[t][y[t]] for t in range(3)) + a[y[0], y[1]] + a[y[1], y[2]] + v["z"][y[2]]
        for y in product((0, 1), repeat=3)
    }
    z = sum(map(np.exp, score.values()))
    tags, moves = np.zeros((3, 2)), np.zeros((2, 2))
    for y, one in score.items():
        for t in range(3):
            tags[t, y[t]] += np.exp(one) / z
        for move in pairwise(y):
            moves[move] += np.exp(one) / z
    found = {"Z": z, "L": np.log(z) - score[0, 1, 0], "S": max(score.values())}
    found |= {f"de[{t}]": tags[t - 1] - np.eye(2)[(0, 1, 0)[t - 1]] for t in (1, 2, 3)}
    return found | {f"dA[{i + 1},{j + 1}]": moves[i, j] - (i != j) for i in (0, 1) for j in (0, 1)}


def clipping(v: Values) -> Found:
    def loss(w: Any) -> Any:
        return norm(matrix_power(w, 5) @ v["h[0]"] - v["y"]) ** 2 / 2

    gradient = differences(loss, v["W"])
    clipped = gradient * min(1, v["c"] / norm(gradient))
    return {"dW": gradient, "dW[clipped]": clipped, "L": loss(v["W"]), "L[clipped]": loss(v["W"] - v["r"] * clipped)}


def powers(v: Values) -> Found:
    first, second = sorted(np.linalg.eigvals(v["W"]), reverse=True)
    sigma = {f"sigma[{k}]": svd(matrix_power(v["N"], k))[1][0] for k in (1, 2, 4, 8, 16)}
    back = matrix_power(v["W"], 8).T @ v["dh[8]"]
    return {"lamda[1]": first, "lamda[2]": second, "P[16]": matrix_power(v["W"], 16), "dh[0]": back, **sigma}


def lstm_of_one_cell(v: Values, forget: bool, c: Any) -> tuple[list[Any], list[Any]]:
    h, states = v["h[0]"], []
    for t in (1, 2, 3, 4):
        a = {gate: v[f"W_{gate}"] * v[f"x[{t}]"] + v[f"U_{gate}"] * h + v[f"b_{gate}"] for gate in "ifgo"}
        c = (sigm(a["f"]) if forget else 1) * c + sigm(a["i"]) * np.tanh(a["g"])
        h = sigm(a["o"]) * np.tanh(c)
        states.append((h, c))
    h_T, c_T = zip(*states, strict=True)
    return h_T, c_T


def naive_lstm(v: Values) -> Found:
    found = Found()
    for name, forget in (("A", False), ("F", True)):
        h_T, c_T = lstm_of_one_cell(v, forget, v["c[0]"])
        found |= {f"h_{name}[{t}]": h_T[t - 1] for t in (1, 2, 3, 4)} | {f"c_{name}[4]": c_T[-1]}
        found[f"dc_{name}[0]"] = differences(lambda c, forget=forget: lstm_of_one_cell(v, forget, c)[1][-1], v["c[0]"])
    return found


def peephole(v: Values) -> Found:
    def step(c: Any, sees: bool) -> tuple[Any, Any, Any]:
        a = {gate: v[f"W_{gate}"] * v["x"] + v[f"U_{gate}"] * sigm(v["b_0"]) * np.tanh(c) for gate in "ifgo"}
        f = sigm(a["f"] + sees * v["P_f"] * c)
        new = f * c + sigm(a["i"] + sees * v["P_i"] * c) * np.tanh(a["g"])
        return f, new, sigm(a["o"] + sees * v["P_o"] * new) * np.tanh(new)

    found = Found()
    for cell, c in (("a", v["c_a"]), ("b", -v["c_a"])):
        for name, sees in (("n", False), ("p", True)):
            f, new, h = step(c, sees)
            found |= {f"f_{name}{cell}": f, f"c_{name}{cell}": new, f"h_{name}{cell}": h}
    of_a = {name: differences(lambda c, sees=sees: step(c, sees)[0], v["c_a"]) for name, sees in (("n", 0), ("p", 1))}
    return found | {f"s_{name}": slope for name, slope in of_a.items()}


def dropout(v: Values) -> Found:
    kept = (v["u"] >= v["q"]) / (1 - v["q"])
    variance = v["x"] ** 2 * v["q"] / (1 - v["q"])
    return {"y": v["x"] * kept, "dx": v["dy"] * kept, "E": v["x"], "v": variance}


def padding(v: Values) -> Found:
    n, by_length = v["n"], np.sort(v["n"])[::-1]
    cells = [4 * (lengths[:4].max() + lengths[4:].max()) for lengths in (n, by_length)]
    found = {"C_m": cells[0], "C_s": cells[1], "W_m": cells[0] - n.sum(), "W_s": cells[1] - n.sum()}
    return found | {"R": by_length[:4].sum(), "r[1]": 4, "r[10]": (by_length[:4] >= 10).sum()}


def mixture(v: Values) -> Found:
    def loss(what: Any, mu: Any, shat: Any, rhat: Any) -> Any:
        p = 0.0
        for k, w in enumerate(normalised(what)):
            rho, s = np.tanh(4 * np.tanh(rhat[k] / 4)), np.exp(shat[k])
            covariance = np.array([[s[0] ** 2, rho * s[0] * s[1]], [rho * s[0] * s[1], s[1] ** 2]])
            d = v["x"] - mu[k]
            p += w * np.exp(-d @ np.linalg.inv(covariance) @ d / 2) / np.sqrt(np.linalg.det(2 * np.pi * covariance))
        return -np.log(p)

    given = {"what": v["what"], **{key: np.array([v[f"{key}[1]"], v[f"{key}[2]"]]) for key in ("mu", "shat", "rhat")}}
    found = {"L": loss(**given)}
    for key, one in given.items():
        gradient = differences(lambda one, key=key: loss(**given | {key: one}), one)
        found |= {"dwhat": gradient} if key == "what" else {f"d{key}[{k}]": gradient[k - 1] for k in (1, 2)}
    e = sigm(v["ehat"])
    return found | {"L[pen]": -np.log(e if v["lifted"] else 1 - e), "dehat": e - v["lifted"]}


def residual(v: Values) -> Found:
    def last(x: Any, around: bool) -> Any:
        for w in v["w"]:
            x = np.tanh(w * x) + around * x
        return x

    ways = {"p": False, "r": True}.items()
    slopes = {f"dx_{name}": differences(lambda x, around=around: last(x, around), v["x"]) for name, around in ways}
    return slopes | {f"y_{name}[6]": last(v["x"], around) for name, around in ways}


def matmul(v: Values) -> Found:
    return {"Y": v["W"] @ np.array([v[f"h[{k}]"] for k in (1, 2, 3)]).T, "F": 2 * v["n"] ** 2 * v["B"]}


BY_NUMPY: Mapping[str, Callable[[Values], Found]] = {
    **{one.__name__: one for one in (softmax, gru, additive, sgd, perplexity, bleu, crf, clipping, powers, peephole)},
    **{one.__name__: one for one in (dropout, padding, mixture, residual, matmul)},
    "kneser-ney": kneser_ney,
    "naive-lstm": naive_lstm,
}


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("name", BY_NUMPY)
def test_a_lesson_agrees_with_numpy_whatever_its_numbers(name: str, seed: int | None) -> None:
    of_lesson = values(name, seed)
    for key, value in BY_NUMPY[name](of_lesson).items():
        assert of_lesson[key] == pytest.approx(value, rel=1e-6, abs=1e-7), key


@pytest.mark.parametrize("name", BY_NUMPY)
def test_a_lesson_agrees_with_the_package_and_links_it(name: str) -> None:
    shown = lesson(name)
    assert shown.difference < (1e-7 if name == "kneser-ney" else 1e-12)  # our n-gram model has single precision
    assert any(section.kernels for section in shown.sections)


def test_the_printed_numbers_show_what_the_lessons_claim() -> None:
    v = values("softmax")
    assert v["L[step]"] < v["L"] < v["L[slip]"] and v["m"] == pytest.approx(0)
    v = values("sgd")
    assert v["L[+]"] < v["L"] and (v["E[dog,+]"] == v["E[dog]"]).all() and (v["E[man,+]"] != v["E[man]"]).all()
    v = values("clipping")
    assert v["N"] > 100 and v["N[clipped]"] == pytest.approx(1)
    assert v["L[clipped]"] < v["L"] < 1e10 < v["L[plain]"]
    v = values("powers")
    assert (v["lamda[1]"], v["lamda[2]"]) == pytest.approx((1.1, 0.5))
    assert v["sigma[16]"] < v["sigma[4]"] < 1 < v["sigma[1]"] < v["sigma[2]"] < v["sigma[1,2]"]
    v = values("naive-lstm")
    assert v["p_F"] < 0.5 and v["dc_A[0]"] > 1 > v["dc_F[0]"]
    assert v["c_A[4]"] > v["c_F[4]"] and v["s_A[4]"] < v["s_F[4]"] / 2
    v = values("peephole")
    assert v["f_na"] == pytest.approx(v["f_nb"], abs=0.01) and v["f_pa"] > 0.8 > 0.2 > v["f_pb"]
    assert v["s_p"] > 1000 * v["s_n"]
    v = values("residual")
    assert v["dx_p"] < 0.05 < 1 < v["dx_r"]
    v = values("kneser-ney")
    assert v["p[glasses]"] > v["p[Francisco]"] and v["p[San,Francisco]"] > 0.4
    v = values("crf")
    assert v["S"] == pytest.approx(v["s[1,2,1]"]) and v["d[2,2]"] < 0 < v["d[3,1]"] and v["p[3,2]"] > v["p[3,1]"]
    v = values("padding")
    assert v["R"] == v["R_s"] and v["W_s"] < v["W_m"] / 2
