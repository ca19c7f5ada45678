#!/usr/bin/env python3
"""Answer with an exported model: needs onnxruntime and numpy, and for words in running text regex; nothing else.

    python driver.py < lines.txt
    python driver.py --beam 5 --length-penalty 0.6 --scores < lines.txt
    python driver.py vectors.npz

As a module: ``Writer(folder).write(ids, beam=5)``, and likewise ``Classifier`` and ``Tagger``.
"""

import argparse
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from anaphora.export.reading import BOS, EOS, PAD, UNK, Tokens, arrays, strokes

Arrays = dict[str, Any]


class Model:
    """An exported model: the graphs in a folder."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        self.config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        files = {name: str(Path(folder) / f"{name}.onnx") for name in self.config["graphs"]}
        self.graphs = {name: onnxruntime.InferenceSession(file, options) for name, file in files.items()}
        self.tokens = {side: Tokens(table) for side, table in self.config.get("tokenizers", {}).items()}

    def run(self, name: str, feeds: Arrays) -> Arrays:
        """Return the outputs of a graph."""
        outputs = [output.name for output in self.graphs[name].get_outputs()]
        return dict(zip(outputs, self.graphs[name].run(outputs, feeds), strict=True))

    def side(self, name: str) -> Tokens:
        """Return the tokens of source or target; a model of one text has one kind."""
        return self.tokens.get(name) or self.tokens["text"]

    def feeds(self, given: Any) -> Arrays:
        """Return the input of the first graph: ids, or vectors (steps x width)."""
        if self.config["reads"] == "text":
            return {"ids": np.array([*given, EOS], np.int64)}
        values = np.asarray(given, np.float32)
        return {"values": values.reshape(-1, values.shape[-1])}

    def start(self, given: Any) -> tuple[Arrays, Arrays]:
        """Return the memory of an input and the first state; without an encoder nothing is read before."""
        if "encoder" not in self.graphs:
            return {}, {f"state {n}": np.array([row], np.float32) for n, row in self.config["initial"].items()}
        found = self.run("encoder", self.feeds(given))
        return {name: found.pop(name) for name in self.config["memory"]}, found


class Writer(Model):
    """A model that writes a text: translators, language models, transducers, describers."""

    def step(self, memory: Arrays, state: Arrays, ids: Sequence[int]) -> tuple[Any, Arrays]:
        """ln p of every next token of N rows, and their next state."""
        outputs = ["log_probs", *(f"next {name}" for name in self.config["state"])]
        log_probs, *after = self.graphs["step"].run(outputs, {**memory, **state, "ids": np.array(ids, np.int64)})
        log_probs[:, [PAD, BOS]] = -np.inf
        state = {f"state {name}": rows for name, rows in zip(self.config["state"], after, strict=True)}
        return log_probs.astype(np.float64), state

    def write(
        self, given: Any, beam: int = 1, length_penalty: float = 0.0, longest: int = 0
    ) -> tuple[list[int], float]:
        """Return the best tokens found, at most ``longest``, and ln p of them.

        A language model continues the ids given.
        """
        forced = [] if "encoder" in self.graphs else list(given)
        longest = longest or min(factor * len(given) + more for factor, more in self.config["longest"])
        memory, state = self.start(given)
        rows: list[list[int]] = [[]]
        last, scores, best = [self.config["bos"]], np.zeros(1), (-np.inf, list[int](), -np.inf)

        def penalty(length: int) -> float:
            return float(((5 + length) / 6) ** length_penalty)

        for place in range(longest):
            log_probs, state = self.step(memory, state, last)
            if place < len(forced):
                choices = [(scores[0] + log_probs[0, forced[place]], 0, forced[place])]
            else:
                totals = scores[:, None] + log_probs
                flat = totals.ravel()
                top = np.argpartition(-flat, min(beam, flat.size) - 1)[:beam]
                top = top[np.lexsort((top, -flat[top]))]
                choices = [(flat[at], *divmod(int(at), totals.shape[1])) for at in top]
            live = []
            for score, row, token in choices:
                if token == EOS and place >= len(forced):
                    best = max(best, (score / penalty(place + 1), rows[row], score), key=lambda one: one[0])
                else:
                    live.append((score, row, token))
            if not live or (live[0][0] / penalty(longest) <= best[0] and place >= len(forced)):
                break
            chosen = [row for _, row, _ in live]
            rows = [[*rows[row], token] for _, row, token in live]
            scores, last = np.array([score for score, _, _ in live]), [token for _, _, token in live]
            state = {name: values[chosen] for name, values in state.items()}
        return (best[1], best[2]) if best[0] > -np.inf else (rows[0], scores[0])

    def score(self, given: Any, target: Sequence[int]) -> list[float]:
        """ln p of a target and its end, token by token, given what is read; a language model has no use for that."""
        (memory, state), last, found = self.start(given), self.config["bos"], list[float]()
        for token in [*target, EOS]:
            log_probs, state = self.step(memory, state, [last])
            found.append(log_probs[0, token])
            last = token
        return found

    def answer(self, item: Any, asked: argparse.Namespace) -> str:
        beam, penalty = self.config["search"]["beam"], self.config["search"]["length_penalty"]
        beam, penalty = asked.beam or beam, penalty if asked.length_penalty is None else asked.length_penalty
        reads_text, back = self.config["reads"] == "text", dict[int, str]()
        if reads_text and not item.strip():
            return f"{0:.6f}\t{item}" if asked.scores else str(item)
        given = self.side("source").encode(item) if reads_text else item
        if self.config.get("copies"):
            tokens = self.side("source")
            stand_ins = tokens.stand_ins(item)
            given = [tokens.ids.get(stand_ins.get(token, token), UNK) for token in tokens.split(item)]
            back = {ord(known): unknown for unknown, known in stand_ins.items()}
        ids, score = self.write(given, beam, penalty)
        text = self.side("target").decode(ids).translate(back)
        return f"{score:.6f}\t{text}" if asked.scores else text


class Classifier(Model):
    """A model that gives an input one class, or any number of labels."""

    def probabilities(self, given: Any) -> dict[str, float]:
        """Of every class, for ids or vectors."""
        found = self.run("classifier", self.feeds(given[: self.config["max_length"]]))["probabilities"]
        return dict(zip(self.config["names"], found.tolist(), strict=True))

    def answer(self, item: Any, asked: argparse.Namespace) -> str:
        given = self.side("text").encode(item.strip()) if self.config["reads"] == "text" else item
        found, least = self.probabilities(given), self.config["thresholds"]
        if least is None:
            text = max(found, key=found.__getitem__)
        else:
            reached = zip(found.items(), least, strict=True)
            text = self.config["separator"].join(name for (name, one), bound in reached if one >= bound)
        return f"{json.dumps(found, ensure_ascii=False)}\t{text}" if asked.scores else text


class Tagger(Model):
    """A model that gives each word or vector a tag, or any number of labels."""

    def feeds(self, given: Any) -> Arrays:
        """Return the input of the graph: words as ids and characters, or vectors."""
        if self.config["reads"] != "words":
            return super().feeds(given)
        table = self.config | {"kind": "word", "pieces": [""] * 4 + self.config["words"]}
        words, letters = Tokens(table), {letter: n for n, letter in enumerate(self.config["characters"], EOS + 1)}
        feeds = {"ids": np.array([words.ids.get(words.normal(word), UNK) for word in given], np.int64)}
        if longest := self.config["max_length"]:
            normal = [unicodedata.normalize("NFC", words.plain(word))[:longest] for word in given]
            feeds["characters"] = np.full((len(given), max(map(len, normal)) + 2), -1, np.int64)
            for row, word in zip(feeds["characters"], normal, strict=True):
                row[: len(word) + 2] = [BOS, *(letters.get(letter, UNK) for letter in word), EOS]
        return feeds

    def tags(self, given: Any) -> list[str]:
        """Return the tags of words, or of vectors."""
        found, names = self.run("tagger", self.feeds(given)), self.config["names"]
        if self.config["output"] == "sigmoid":
            rows = [[name for name, score in zip(names, row, strict=True) if score > 0] for row in found["scores"]]
            return ["|".join(row) or "_" for row in rows]
        best = found["scores"].argmax(1) if self.config["output"] == "softmax" else best_path(**found)
        return [names[tag] for tag in best]

    def answer(self, item: Any, asked: argparse.Namespace) -> str:
        if self.config["reads"] != "words":
            return " ".join(self.tags(item))
        words = [match[0] for match in import_module("regex").finditer(self.config["pattern"], item)]
        tags = self.tags(words) if words else []
        return "".join(f"{word}\t{tag}\n" for word, tag in zip(words, tags, strict=True))


def best_path(scores: Any, transitions: Any, first: Any, last: Any) -> list[int]:
    """Return the best sequence of tags (Viterbi 1967)."""
    best, sources = first + scores[0], list[Any]()
    for row in scores[1:]:
        through = best[:, None] + transitions
        sources.append(through.argmax(0))
        best = through.max(0) + row
    path = [int((best + last).argmax())]
    for before in reversed(sources):
        path.append(int(before[path[-1]]))
    return path[::-1]


def open_model(folder: str | Path, threads: int = 1) -> Any:
    """Return the model in a folder."""
    answers = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))["answers"]
    return {"text": Writer, "classes": Classifier, "tags": Tagger}[answers](folder, threads)


def main() -> None:
    """Answer each line of standard input, or each array of a file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", help=".npy or .npz file; all else is read from standard input")
    parser.add_argument("--folder", default=str(Path(__file__).parent))
    parser.add_argument("--beam", type=int)
    parser.add_argument("--length-penalty", type=float)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scores", action="store_true", help="write ln p or probabilities and a tab in front")
    asked = parser.parse_args()
    model = open_model(asked.folder, asked.threads)
    reads = model.config["reads"]
    sys.stdin.reconfigure(encoding="utf-8-sig", newline="\n")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    if reads in ("vectors", "grid"):
        if not asked.file:
            parser.error("this model reads arrays: name an .npy or .npz file")
        for name, values in arrays(Path(asked.file)):
            answer = model.answer(values, asked)
            print(f"{name}\t{answer}" if reads == "grid" else answer, flush=True)
        return
    for line in sys.stdin:
        text = line.rstrip("\r\n")
        if reads in ("strokes", "words") and not text.strip():
            continue
        print(model.answer(strokes(text, model.config["upward"]) if reads == "strokes" else text, asked), flush=True)


def ending_well(main: Callable[[], None]) -> None:
    """Call it; a user error is one line and exit code 2, and a pipe that nobody reads is the end."""
    try:
        main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError) as error:
        sys.exit(print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr) or 2)


if __name__ == "__main__":
    ending_well(main)
