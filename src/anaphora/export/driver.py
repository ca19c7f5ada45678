#!/usr/bin/env python3
"""Answer with an exported model: needs onnxruntime and numpy, and for words in running text regex; nothing else.

    python driver.py < lines.txt
    python driver.py --beam 5 --length-penalty 0.6 --scores < lines.txt
    python driver.py vectors.npz

As a module: ``Writer(folder).write(ids, beam=5)``, and likewise ``Classifier`` and ``Tagger``.
"""

import argparse
import json
import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnxruntime

PAD, UNK, BOS, EOS = range(4)
SPACE, UNKNOWN, JOINER, TAB = "\u2581", "\ufffd", "\uffed", "\t"
Arrays = dict[str, Any]


class Tokens:
    """Text to ids and back: byte-pair subwords, characters, symbols or words."""

    def __init__(self, table: Any) -> None:
        self.kind, self.pieces, self.lowercase = table["kind"], table["pieces"], table["lowercase"]
        self.ids = {piece: number for number, piece in enumerate(self.pieces) if number > EOS}
        self.spaced = table.get("separated", self.kind == "word")
        self.patterns = {name: import_module("regex").compile(text) for name, text in table.get("patterns", {}).items()}

    def encode(self, text: str) -> list[int]:
        if self.kind == "bpe":
            line = re.sub(" +", " ", self.normal(text)).strip(" ").replace(" ", SPACE)
            return self.merged(list(SPACE + line)) if line else []
        return [self.ids.get(token, UNK) for token in self.split(text)]

    def normal(self, text: str) -> str:
        """In normal form, and lower-cased where the model has no case."""
        text = unicodedata.normalize("NFC", text)
        if self.lowercase == "tr":
            text = text.replace("\u0130", "i").replace("I\u0307", "i").replace("I", "\u0131")
        return unicodedata.normalize("NFC", text.lower()) if self.lowercase else text

    def split(self, text: str) -> list[str]:
        """Characters, words, or symbols and then the tags behind a tab."""
        if self.kind == "joiner":
            return self.joined(self.normal(text).strip())
        if self.kind != "symbol":
            return self.normal(text).split() if self.spaced else list(self.normal(text))
        string, _, tags = text.partition(TAB)
        found = self.normal(string.strip())
        named = (tag.strip() for tag in unicodedata.normalize("NFC", tags).split(";"))
        return [*(found.split() if self.spaced else found), *(TAB + tag for tag in named if tag)]

    def joined(self, line: str) -> list[str]:
        """Words and signs, marked where no space is beside them."""
        parts = self.patterns["tokens"].findall(line.replace(JOINER, "\u25a0"))
        tokens, apart = list[str](), True
        for place, part in enumerate(parts):
            if part.isspace():
                apart, beside = True, parts[max(0, place - 1) : place + 2 : 2]
                if part != " " or len(beside) < 2 or any(map(str.isspace, beside)):
                    tokens.append(JOINER + part.strip(" ") + JOINER)
                continue
            if not apart and self.marks_first(parts[place - 1], part):
                tokens[-1] += JOINER
                apart = True
            tokens.append(part if apart or part == "<unk>" else JOINER + part)
            apart = False
        return tokens

    def marks_first(self, first: str, second: str) -> bool:
        """Whether it is the first of two tokens without a space between them that is marked."""
        if "<unk>" in (first, second):
            return second == "<unk>" != first
        word = self.patterns["word"]
        if word.match(second):
            return not word.match(first) or first[-1] in "'\u2019"
        return bool(self.patterns["opening"].match(first))

    def stand_ins(self, text: str) -> dict[str, str]:
        """For each unknown character a known one that is not in the text, of the same category."""
        string, found = self.normal(text.partition(TAB)[0]), dict[str, str]()
        for unknown in dict.fromkeys(string):
            kind, taken = unicodedata.category(unknown), {*string, *found.values()}
            alike = [
                one for one in self.ids if len(one) == 1 and unicodedata.category(one) == kind and one not in taken
            ]
            if unknown not in self.ids and alike:
                found[unknown] = alike[len(alike) // 2]
        return found

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
        unknown = "<unk>" if self.kind in ("word", "joiner") else UNKNOWN
        tokens = [self.pieces[number] if number != UNK else unknown for number in ids]
        if self.kind == "joiner":
            return between(tokens).translate({10: " ", 0: " "})
        tokens = [token for token in tokens if self.kind != "symbol" or token[0] != TAB]
        return (" " if self.spaced else "").join(tokens).translate({10: " ", 0: " "})


def between(tokens: Iterable[str]) -> str:
    """Marked words and signs as a line."""
    text, joined = "", True
    for token in tokens:
        written = token.removeprefix(JOINER).removesuffix(JOINER) or " "
        text += written if joined or token.startswith(JOINER) else " " + written
        joined = token.endswith(JOINER)
    return text


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
        self.tokens = {side: Tokens(table) for side, table in self.config.get("tokenizers", {}).items()}

    def run(self, name: str, feeds: Arrays) -> Arrays:
        """The outputs of a graph."""
        outputs = [output.name for output in self.graphs[name].get_outputs()]
        return dict(zip(outputs, self.graphs[name].run(outputs, feeds), strict=True))

    def side(self, name: str) -> Tokens:
        """The tokens of source or target; a model of one text has one kind."""
        return self.tokens.get(name) or self.tokens["text"]

    def feeds(self, given: Any) -> Arrays:
        """The input of the first graph: ids, or vectors (steps x width)."""
        if self.config["reads"] == "text":
            return {"ids": np.array([*given, EOS], np.int64)}
        values = np.asarray(given, np.float32)
        return {"values": values.reshape(-1, values.shape[-1])}


class Writer(Model):
    """A model that writes a text: translators, language models, transducers, describers."""

    def start(self, given: Any) -> tuple[Arrays, Arrays]:
        """The memory of an input and the first state; a language model reads nothing before it writes."""
        if "encoder" not in self.graphs:
            return {}, {f"state {n}": np.array([row], np.float32) for n, row in self.config["initial"].items()}
        found = self.run("encoder", self.feeds(given))
        return {name: found.pop(name) for name in self.config["memory"]}, found

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
        """The best tokens found, at most ``longest``, and ln p of them; a language model continues the ids given."""
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
        """The input of the graph: words as ids and characters, or vectors."""
        if self.config["reads"] != "words":
            return super().feeds(given)
        table = {"kind": "word", "pieces": [""] * 4 + self.config["words"], "lowercase": self.config["lowercase"]}
        words, letters = Tokens(table), {letter: n for n, letter in enumerate(self.config["characters"], EOS + 1)}
        feeds = {"ids": np.array([words.ids.get(words.normal(word), UNK) for word in given], np.int64)}
        if longest := self.config["max_length"]:
            normal = [unicodedata.normalize("NFC", word)[:longest] for word in given]
            feeds["characters"] = np.full((len(given), max(map(len, normal)) + 2), -1, np.int64)
            for row, word in zip(feeds["characters"], normal, strict=True):
                row[: len(word) + 2] = [BOS, *(letters.get(letter, UNK) for letter in word), EOS]
        return feeds

    def tags(self, given: Any) -> list[str]:
        """The tags of words, or of vectors."""
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
    """The best sequence of tags (Viterbi 1967)."""
    best, sources = first + scores[0], list[Any]()
    for row in scores[1:]:
        through = best[:, None] + transitions
        sources.append(through.argmax(0))
        best = through.max(0) + row
    path = [int((best + last).argmax())]
    for before in reversed(sources):
        path.append(int(before[path[-1]]))
    return path[::-1]


def array(file: IO[bytes]) -> Any:
    """The array of an ``.npy`` file, of numbers or strings."""
    np.lib.format.read_magic(file)
    shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
    return np.frombuffer(file.read(), dtype).reshape(shape, order="F" if by_column else "C")


def arrays(path: Path) -> Iterator[tuple[str, Any]]:
    """The sequences or grids of an ``.npy`` or ``.npz`` file, with the names that they have there."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield path.stem, array(file)
        return
    with zipfile.ZipFile(path) as archive:
        found = {name.removesuffix(".npy"): array(archive.open(name)) for name in archive.namelist()}
    if {"values", "lengths"} <= {*found}:
        values, lengths = found["values"], found["lengths"]
        rows = values if values.ndim == 3 else np.split(values, np.cumsum(lengths)[:-1])
        yield from (("", row[:length]) for row, length in zip(rows, lengths, strict=True))
    elif {"values", "names"} <= {*found}:
        yield from zip(found["names"].tolist(), found["values"], strict=True)
    else:
        yield from found.items()


def strokes(line: str, upward: bool) -> Any:
    """A sequence of strokes as JSON: offsets from point to point, and 1 where the pen is lifted."""
    whole = json.loads(line)
    drawn = whole["strokes"] if isinstance(whole, dict) else whole
    points = np.array([point[:2] for stroke in drawn for point in stroke], np.float64)
    moved = np.diff(points, axis=0, prepend=points[:1]) * ([1, -1] if upward else [1, 1])
    lifted = [place == len(stroke) for stroke in drawn for place in range(1, len(stroke) + 1)]
    return np.column_stack([moved, lifted])


def opened(folder: str | Path, threads: int = 1) -> Any:
    """The model in a folder."""
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
    parser.add_argument(
        "--scores", action="store_true", help="write ln p or probabilities and a tab before each answer"
    )
    asked = parser.parse_args()
    model = opened(asked.folder, asked.threads)
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


if __name__ == "__main__":
    main()
