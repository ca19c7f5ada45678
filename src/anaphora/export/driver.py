#!/usr/bin/env python3
"""Translate lines, or continue them, with an exported model: needs onnxruntime and numpy, nothing else.

    python driver.py < lines.txt
    python driver.py --beam 5 --length-penalty 0.6 --scores < lines.txt

As a module: ``Model(folder).write(ids, beam=5)`` searches, ``Model(folder).score(ids, target)`` is ln p of a target.
"""

import argparse
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

PAD, UNK, BOS, EOS = range(4)
SPACE, UNKNOWN = "\u2581", "\ufffd"
Arrays = dict[str, Any]


class Tokens:
    """Text to ids and back: byte-pair subwords, characters or words between spaces."""

    def __init__(self, table: Any) -> None:
        self.kind, self.pieces, self.lowercase = table["kind"], table["pieces"], table["lowercase"]
        self.ids = {piece: number for number, piece in enumerate(self.pieces) if number > EOS}

    def encode(self, text: str) -> list[int]:
        text = unicodedata.normalize("NFC", text)
        if self.lowercase == "tr":
            text = text.replace("\u0130", "i").replace("I\u0307", "i").replace("I", "\u0131")
        text = unicodedata.normalize("NFC", text.lower()) if self.lowercase else text
        if self.kind != "bpe":
            return [self.ids.get(token, UNK) for token in (text if self.kind == "character" else text.split())]
        line = re.sub(" +", " ", text).strip(" ").replace(" ", SPACE)
        return self.merged(list(SPACE + line)) if line else []

    def merged(self, symbols: list[str]) -> list[int]:
        """The pair of neighbours whose token was learnt first is merged first, the leftmost of equal ones."""
        while True:
            pairs = enumerate(map("".join, pairwise(symbols)))
            found = min(((self.ids[pair], place) for place, pair in pairs if pair in self.ids), default=None)
            if found is None:
                break
            place = found[1]
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        ids = list[int]()
        for symbol in symbols:
            if symbol in self.ids:
                ids.append(self.ids[symbol])
            elif "<0x00>" in self.ids:
                ids += [self.ids[f"<0x{byte:02X}>"] for byte in symbol.encode()]
            elif ids[-1:] != [UNK]:
                ids.append(UNK)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        if self.kind == "bpe":
            # special tokens have no text, but bytes on both sides of one make no character
            joined = "".join(self.pieces[n] if n > EOS else UNKNOWN if n == UNK else "\n" for n in ids)
            parts = joined.lstrip("\n").removeprefix(SPACE).replace(SPACE, " ").split("\n")
            text = "".join(re.sub("(<0x[0-9A-F]{2}>)+", lambda run: bytes_of(run[0]), part) for part in parts)
            return text.translate({10: " ", 0: " "})
        ids = [number for number in ids if number == UNK or number > EOS]
        words = [self.pieces[n] if n != UNK else UNKNOWN if self.kind == "character" else "<unk>" for n in ids]
        return ("" if self.kind == "character" else " ").join(words).translate({10: " ", 0: " "})


def bytes_of(run: str) -> str:
    """The text of bytes in hexadecimal; U+FFFD for each that is part of no character."""
    raw = bytes(int(byte, 16) for byte in re.findall("<0x(..)>", run))
    return raw.decode("utf-8", "surrogateescape").translate({0xDC00 + byte: UNKNOWN for byte in range(128, 256)})


class Model:
    """An exported model: the graphs in a folder."""

    def __init__(self, folder: str | Path, threads: int = 1) -> None:
        self.config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        files = {name: str(Path(folder) / f"{name}.onnx") for name in self.config["graphs"]}
        self.graphs = {name: onnxruntime.InferenceSession(file, options) for name, file in files.items()}
        self.tokens = {side: Tokens(table) for side, table in self.config["tokenizers"].items()}

    def side(self, name: str) -> Tokens:
        """The tokens of source or target; a language model has one kind."""
        return self.tokens.get(name) or self.tokens["text"]

    def start(self, ids: Sequence[int]) -> tuple[Arrays, Arrays]:
        """The memory of a sentence and the first state; a language model reads nothing before it writes."""
        if "encoder" not in self.graphs:
            return {}, {f"state {n}": np.array([row], np.float32) for n, row in self.config["initial"].items()}
        names = [output.name for output in self.graphs["encoder"].get_outputs()]
        values = self.graphs["encoder"].run(names, {"ids": np.array([*ids, EOS], np.int64)})
        found = dict(zip(names, values, strict=True))
        return {name: found.pop(name) for name in self.config["memory"]}, found

    def step(self, memory: Arrays, state: Arrays, ids: Sequence[int]) -> tuple[Any, Arrays]:
        """ln p of every next token of N rows, and their next state."""
        outputs = ["log_probs", *(f"next {name}" for name in self.config["state"])]
        log_probs, *after = self.graphs["step"].run(outputs, {**memory, **state, "ids": np.array(ids, np.int64)})
        log_probs[:, [PAD, BOS]] = -np.inf
        state = {f"state {name}": rows for name, rows in zip(self.config["state"], after, strict=True)}
        return log_probs.astype(np.float64), state

    def write(
        self, ids: Sequence[int], beam: int = 1, length_penalty: float = 0.0, more: int = 40
    ) -> tuple[list[int], float]:
        """The best tokens found and ln p of them; a language model continues ``ids`` by at most ``more`` tokens."""
        translates = "encoder" in self.graphs
        forced = [] if translates else list(ids)
        longest = min(3 * len(ids) + 10, 2 * len(ids) + 200) if translates else len(ids) + more
        memory, state = self.start(ids)
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

    def score(self, ids: Sequence[int], target: Sequence[int]) -> list[float]:
        """ln p of a target and its end, token by token, given ``ids``, which a language model has no use for."""
        (memory, state), last, found = self.start(ids), self.config["bos"], list[float]()
        for token in [*target, EOS]:
            log_probs, state = self.step(memory, state, [last])
            found.append(log_probs[0, token])
            last = token
        return found


def main() -> None:
    """Answer the lines of standard input."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", default=str(Path(__file__).parent))
    parser.add_argument("--beam", type=int)
    parser.add_argument("--length-penalty", type=float)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scores", action="store_true", help="write ln p and a tab before each text")
    given = parser.parse_args()
    model = Model(given.folder, given.threads)
    search = {key: getattr(given, key) for key in ("beam", "length_penalty") if getattr(given, key) is not None}
    search = {**model.config["search"], **search}
    read, written = model.side("source"), model.side("target")
    sys.stdin.reconfigure(encoding="utf-8-sig", newline="\n")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for line in sys.stdin:
        text = line.rstrip("\r\n")
        ids, score = model.write(read.encode(text), **search) if text.strip() else ([], 0.0)
        answer = written.decode(ids) if text.strip() else text
        print(f"{score:.6f}\t{answer}" if given.scores else answer, flush=True)


if __name__ == "__main__":
    main()
