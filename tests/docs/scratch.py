"""The small data and runs that every page of the documentation may use without making them.

A page is run in an empty folder. Before a command or a block of Python runs, each name in it that `scratch.toml` knows
and that is not there yet is put there; the first row whose pattern fits counts. What a page makes itself (``--run``,
``--output``, ``>``) is the page's own, and its later commands use it. Commands that make the same run are alternatives:
the later one replaces it. So a page needs no preparation: write names by these rules, or add a row. Texts have 3 to 150
lines; layers have 16 units at most, and are trained for two epochs.
"""

import gzip
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from threading import Lock

import numpy as np

from tests.site import ROOT

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FILES, RUNS = _TABLES["files"], _TABLES["runs"]
"""By the name in a page, what it is."""
EXAMPLES = _TABLES["examples"]
"""By a name in a block of Python that the page does not define, what it is."""

_RUN = re.compile(r"--run\s+([\w./-]+)|train\(\w+, Path\(\"([\w./-]+)\"")
_OUTPUT = re.compile(r"(?:--output|--pairs|--alignments|--soft-alignments|--board|>)\s+([\w./-]+)")
LINES = ("The old man sees a cat.", "Alice is in the garden.", "I want to read a good book today.")


class Scratch:
    """The folder of all files, from which those of a page are copied."""

    def __init__(self, folder: Path, execute: Callable[[Path, str], None]) -> None:
        self.folder = folder
        self.execute = execute
        self.lock = Lock()
        folder.mkdir()
        write_files(folder)

    def prepare(self, place: Path, text: str) -> None:
        """Put what a command or a block of Python names, and what is not there, into a page's folder."""
        made = set(_OUTPUT.findall(text))
        if "--resume" not in text:
            for run in map("".join, _RUN.findall(text)):
                made.add(run)
                for folder in (run, f"{run}-pairs"):  # put here, or made by another command for the job
                    shutil.rmtree(place / folder, ignore_errors=True)
        for name in re.findall(r"[\w./-]*\w", text):
            if name in made or name.startswith("/") or (place / name).exists():
                continue
            for pattern, stock in (FILES | RUNS).items():
                if fnmatch(name, pattern):
                    _copy(self.folder / self._stock(name, pattern, stock), place / name)
                    break

    def _stock(self, name: str, pattern: str, stock: str) -> str:
        if pattern in FILES:
            return stock.replace("*", name.removeprefix(pattern.partition("*")[0])) if "*" in stock else stock
        run = "runs/" + re.sub(r"\W+", "-", stock)
        with self.lock:
            if not (self.folder / run).exists():
                self.prepare(self.folder, stock)
                self.execute(self.folder, f"anaphora train {stock} --run {run}")
        return run


def _copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, place)
    else:
        shutil.copy(source, place)


def write_files(folder: Path) -> None:
    """Write the files and folders that ``FILES`` names."""
    from anaphora.samples import english_french, handwriting

    data = folder / "data"
    english_french.write(data, train=150, valid=110, test=12)
    for split in ("train", "val", "test"):
        for language in ("cs", "de"):
            shutil.copy(data / f"{split}.fr", data / f"{split}.{language}")
        shutil.copy(data / f"{split}.en", data / f"{split}.txt")
        (folder / "languages").mkdir(exist_ok=True)
        for language in ("es", "gn", "hch", "shp"):
            side = "en" if language == "es" else "fr"
            shutil.copy(data / f"{split}.{side}", folder / "languages" / f"{split}.{language}")
    pairs = list(zip(*((data / f"train.{side}").read_text().splitlines() for side in ("en", "de")), strict=True))
    (data / "train.links").write_text("0-0 1-1\n" * len(pairs))
    write_corpora(folder / "corpora", data)
    write_classes(folder)
    write_images(folder / "captioned")
    shutil.copy(ROOT / "src" / "anaphora" / "trial" / "english-french.anaphora", folder)
    handwriting.write(folder / "strokes", 1, 24)
    write_vectors(folder)
    write_documents(folder, pairs)
    own_cell = (ROOT / "docs" / "course" / "own-cell.md").read_text(encoding="utf-8")
    (folder / "mgu.py").write_text(own_cell.partition("```py\n")[2].partition("```\n")[0])
    lines = "".join(f"{line}\n" for line in LINES)
    for name, text in {
        "lines": lines,
        "begun": "Le\n\nAlice\n",
        "ends": ".\n.\n\n",
        "words": "anaphora\nhouse\n",
        "pairs.tsv": "".join(f"{source}\t{target}\n" for source, target in pairs[:20]),
        "table.csv": "en,de\n" + "".join(f'"{source}","{target}"\n' for source, target in pairs[:20]),
        "dictionary.tsv": "man\thomme\t0.9\ncat\tchat\t0.8\ngarden\tjardin\t0.7\n",
        "terms.tsv": "cat\tchat | chats\nbook\tlivre | !cahier\n",
        "nbest": "0 ||| the cat sees . ||| lm= -2 ||| -2\n0 ||| a cat sees . ||| lm= -3 ||| -3\n",
    }.items():
        (folder / name).write_text(text)
    (folder / "lines.gz").write_bytes(gzip.compress(lines.encode()))


def write_corpora(folder: Path, data: Path) -> None:
    """Write small files for the corpora that ``anaphora fetch`` knows."""
    from anaphora.data.catalogue import CORPORA

    for name, corpus in CORPORA.items():
        (folder / name).mkdir(parents=True)
        for file in corpus.files:
            split = re.sub(r"^ptb\.|_.*|(?<=val)id", "", Path(file.name).stem)
            text = (data / f"{split}.en").read_text()
            if file.name.endswith(".tsv"):
                text = re.sub("^(.*)$", r"\1\t\1", text, flags=re.M)
            (folder / name / file.name).write_text(text)


def write_classes(folder: Path) -> None:
    """Write texts with classes, words with tags, and strings with strings."""
    texts = [(("bad", "good")[n % 2], f"a {('dull', 'lovely')[n % 2]} film of {n} scenes") for n in range(60)]
    (folder / "reviews.tsv").write_text("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in texts))
    (folder / "sst").mkdir()
    lines = "".join(f"{int(label == 'good')} {text}\n" for label, text in texts)
    for name in ("binary.train", "binary.dev", "fine.train", "fine.dev"):
        (folder / "sst" / f"stsa.{name}").write_text(lines)
    (folder / "stsa.gz").write_bytes(gzip.compress(lines.encode()))
    row = "{}\t{}\t_\t{}\t_\t_\t_\t_\t_\t_\n"
    tagged = (("A", "DET"), ("{}", "NOUN"), ("walks", "VERB"), (".", "PUNCT"))
    sentence = "".join(row.format(n, word, tag) for n, (word, tag) in enumerate(tagged, 1))
    (folder / "tagged.conllu").write_text("".join(sentence.format(f"man{n % 20}") + "\n" for n in range(40)))
    letters = "abcdefghijklmno"
    spelt = (first + middle + last for first in letters for middle in "fghijk" for last in letters)
    many = (first + middle + last for first in letters for middle in letters for last in letters)
    (folder / "cmudict.dict").write_text("".join(f"{word} {' '.join(word.upper())}\n" for word in many))
    named = [(number, ("lamp", "kettle")[number % 2]) for number in range(60)]
    mails = ({"text": f"My {name} {number} leaks.", "spans": [[3, 3 + len(name), "PRODUCT"]]} for number, name in named)
    (folder / "mails.jsonl").write_text("".join(json.dumps(mail) + "\n" for mail in mails))
    rows = (
        f"{number},{'net' if name == 'lamp' else 'disk'},the {name} fails in room {number}\n" for number, name in named
    )
    (folder / "logs.csv").write_text("time,level,message\n" + "".join(rows))
    (folder / "words.tsv").write_text("".join(f"{word}\t{' '.join(word.upper())}\n" for word in spelt))


def write_images(data: Path) -> None:
    """Write captions of images and the features of those."""
    data.mkdir()
    draws = np.random.default_rng(1)
    for split, first, last in (("train", 1, 25), ("val", 25, 29), ("test", 29, 33)):
        features = {str(n): draws.normal(size=(2, 2, 4)).astype(np.float32) for n in range(first, last)}
        np.savez(data / f"{split}.npz", **features)
        (data / f"{split}.tsv").write_text(
            "".join(f"{n}.jpg\ta dog on a {('red', 'big')[n % 2]} hill\n" for n in range(first, last))
        )


def write_vectors(folder: Path) -> None:
    """Write signals with classes, frames with tags, an initial state, and vectors of words."""
    draws = np.random.default_rng(1)
    values, lengths = draws.normal(size=(120, 3)).astype(np.float32), np.full(30, 4)
    np.savez(folder / "signals.npz", values=values, lengths=lengths, labels=np.array(["up", "down"] * 15))
    (folder / "frames").mkdir()
    for split in ("train", "val", "test"):
        np.savez(folder / "frames" / split, values=values, lengths=lengths, labels=np.array(["up", "down"] * 60))
    np.savez(folder / "state.npz", **{"layer0.h": np.zeros(16, np.float32)})
    vectors = "".join(f"{word} {' '.join(['0.5'] * 16)}\n" for word in ("man", "cat", "le", "de"))
    (folder / "vectors.gz").write_bytes(gzip.compress(f"4 16\n{vectors}".encode()))


def write_documents(folder: Path, pairs: list[tuple[str, str]]) -> None:
    """Write translation memories, documents with gaps, and a project of OmegaT."""
    from anaphora.formats.entries.tmx import tmx_lines
    from anaphora.formats.lines import write_lines
    from tests.formats.omegat_project import make_project

    (folder / "memories").mkdir()
    for name in ("memory.tmx", "memories/train.tmx"):
        write_lines(folder / name, tmx_lines(pairs, ("en", "de")))
    po = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: de\\n"\n\n'
    done = "".join(f'msgid "{source}"\nmsgstr "{target}"\n\n' for source, target in pairs[:12])
    (folder / "app.po").write_text(f'{po}{done}msgid "Save the <b>file</b> {{name}}"\nmsgstr ""\n')
    (folder / "manual.xlf").write_text(
        '<?xml version="1.0"?>\n<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file original="a" '
        'source-language="en" target-language="de" datatype="plaintext"><body><trans-unit id="1"><source>The cat '
        '<g id="1">sees</g> a man.</source></trans-unit></body></file></xliff>\n'
    )
    (folder / "index.html").write_text("<html><body><p>The cat <b>sees</b> a man.</p></body></html>\n")
    (folder / "film.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nThe old man\nsees a cat.\n")
    (folder / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nThe old man sees a cat.\n")
    make_project(
        folder / "project",
        {"source/app.po": po + 'msgid "A cat."\nmsgstr ""\n'},
        saved=dict(pairs[:3]),
        languages=("en", "de"),
    )
