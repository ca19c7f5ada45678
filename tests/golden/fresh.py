"""Tiny networks of every task, trained for some twenty updates on small texts, killed, resumed and used.

The texts, signals and drawings are the same at all times.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import anaphora
from tests.golden.scene import Answers, Scene, command, inspections, left_by, training

SUBJECTS = ("the cat", "le chat"), ("a dog", "un chien"), ("my horse", "mon cheval"), ("the old man", "le vieil homme")
VERBS = ("sees", "voit"), ("seeks", "cherche"), ("follows", "suit")
OBJECTS = ("a bird", "un oiseau"), ("the boat", "le bateau"), ("my child", "mon enfant"), ("24 houses", "24 maisons")
ENDINGS = (".", "."), ("today.", "aujourd'hui."), ("!", "!"), ("and a small red book.", "et un petit livre rouge.")

EMBEDDING = "[embedding]\nsize = 8\n"
WORDS = "[text]\ntokenizer = 'word'\nsegmentation = 'whitespace'\n"
ENCODER = "[encoder]\ncell = 'gru'\nsize = 6\ndropout = 0.1\n"
ADAM = "optimizer = {kind = 'adam', learning_rate = 0.02}\n"


def trained(tokens: int, epochs: int = 4) -> str:
    return f"[training]\nbatch_tokens = {tokens}\nepochs = {epochs}\nvalidate_every = 7\nsave_every = 4\n{ADAM}"


Files = Mapping[str, str | bytes]


def written(experiment: str, files: Files) -> Callable[[], None]:

    def write() -> None:
        for name, content in ({"experiment.toml": experiment} | dict(files)).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


def pairs() -> list[tuple[str, str]]:
    rows = [(words, ENDINGS[number % 7 % 4]) for number, words in enumerate(product(SUBJECTS, VERBS, OBJECTS))]
    return [(f"{sentence(words, 0)} {end[0]}", f"{sentence(words, 1)} {end[1]}") for words, end in rows]


def sentence(words: Iterable[tuple[str, str]], side: int) -> str:
    return " ".join(word[side] for word in words)


def splits(rows: Sequence[Any]) -> dict[str, list[Any]]:
    train = [row for number, row in enumerate(rows) if number % 5 > 1]
    return {"train": train, "valid": list(rows[::5]), "test": list(rows[1::5])}


def lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def tables(rows: Sequence[Any], ending: str, write: Callable[[list[Any]], str | bytes]) -> dict[str, str | bytes]:
    return {f"data/{name}{ending}": write(some) for name, some in splits(rows).items()}


PAIRS = {
    f"data/{name}.{language}": lines(row[side] for row in rows)
    for name, rows in splits(pairs()).items()
    for side, language in enumerate(("en", "fr"))
}
TEXT = tables(pairs(), ".txt", lambda rows: lines(source for source, _ in rows))
SOURCES = lines(
    [*(source for source, _ in splits(pairs())["test"][:4]), "", "My horse sees 12 zebras. A dog seeks it!"]
)
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "the cat sees %(count)d boats"
msgstr ""

#, fuzzy
msgid "a <b>dog</b> follows my child."
msgstr "x"
"""
HTML = "<html><body><p>The cat <b>sees</b> a bird.</p><ul><li>My horse</ul><!-- the boat --></body></html>\n"
XLIFF = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><file original="a" source-language="en"
target-language="fr" datatype="plaintext"><body><trans-unit id="1"><source>the cat sees <g id="1">my child</g>.</source>
</trans-unit></body></file></xliff>
"""
SRT = "1\n00:00:01,000 --> 00:00:02,000\nthe old man\nsees a bird.\n\n2\n00:00:03,000 --> 00:00:04,000\na dog!\n"
TERMS = "cat\tchien\nbird\toiseau|oiseaux\n"
MEMORY = "the cat sees the boat.\tLE CHAT VOIT LE BATEAU.\na dog follows 24 houses.\tUN CHIEN SUIT 24 MAISONS.\n"


SEARCHED: Files = {
    "sources.txt": SOURCES,
    "strings.po": PO,
    "page.html": HTML,
    "units.xlf": XLIFF,
    "titles.srt": SRT,
    "terms.tsv": TERMS,
    "prefixes.txt": lines(["le", "", "mon cheval", "", "", "un"]),
    "suffixes.txt": lines(["oiseau .", "", "!", "", "", "."]),
    "dictionary.tsv": lines(["cat\tchat\t0.9", "dog\tchien\t0.8", "boat\tbateau\t0.7", "horse\tcheval\t0.9"]),
}


LISTS = "0 ||| the cat sees a bird . ||| tm=1 ||| 1\n0 ||| a cat sees the bird . ||| tm=2 ||| 2\n"
TEXTS = "the cat sees a bird.\n\nmy zebra follows 24 houses .\n"
SCORED: Files = {"texts.txt": TEXTS, "lists.txt": LISTS, "long.txt": lines(source for source, _ in pairs() * 3)}


def searches(model: str, sources: str) -> list[Callable[[], Answers]]:
    ways = {
        "greedy": "--beam 1",
        "beam": "--beam 4 --nbest 3 --json",
        "penalties": "--beam 4 --length-penalty 0.7 --coverage-penalty 0.3",
        "per token": "--beam 3 --per-token --min-length 4 --json",
        "groups": "--beam 4 --groups 2 --diversity 0.5 --nbest 4",
        "no repetition": "--beam 3 --no-repeat-ngram 2",
        "minimum risk": "--minimum-risk 4 --beam 4",
        "sample": "--sample --seed 3 --top-k 6 --json",
        "nucleus": "--sample --top-p 0.8 --temperature 0.7 --nbest 2",
        "risk of samples": "--sample --minimum-risk 4 --seed 5",
        "terms": "--beam 4 --terms terms.tsv --json",
        "prefixes": "--beam 3 --prefixes prefixes.txt",
        "suffixes": "--beam 3 --suffixes suffixes.txt",
        "alignments": "--beam 2 --alignments out/links --soft-alignments out/weights.jsonl",
        "int8": "--beam 3 --precision int8 --json",
        "bf16": "--beam 3 --precision bf16",
        "whole lines": "--beam 2 --no-split --max-tokens 60",
        "protected": "--beam 3 --protect numbers,urls --json",
        "pairs": "--beam 2 --pairs out/pairs.tsv",
    }
    documents = [
        command(f"translate {name}", f"translate {model} {name} --beam 2 --output out/{name}")
        for name in ("strings.po", "page.html", "units.xlf", "titles.srt")
    ]
    return [
        command(f"translate {name}", f"translate {model} {sources} {way}") for name, way in ways.items()
    ] + documents


def by_python(model: str) -> Callable[[], Answers]:

    def step() -> Answers:
        translations = anaphora.load(model).translate(SOURCES.splitlines(), beam=3, length_penalty=0.4)
        yield "from Python", lines(f"{one.score!r} {one.text}" for one in translations)

    return step


def translator() -> Scene:
    experiment = (
        "task = 'translate'\n[text]\ntokenizer = 'bpe'\nsize = 90\nbyte_fallback = false\n"
        f"{EMBEDDING}[encoder]\ncell = 'lstm'\nsize = 6\ndropout = 0.1\n[decoder]\ncell = 'lstm'\nsize = 8\n"
        f"[attention]\nscore = 'concat'\n{trained(200)}"
    )
    begin = "train experiment.toml --data data --source en --target fr"
    steps = [
        training(begin),
        command("info", "info run --json"),
        command("evaluate", "evaluate run --json --no-keep --details --beam 2"),
        *searches("run", "sources.txt"),
        *inspections(
            "run",
            attention="--text 'the cat sees a bird.'",
            gates="--text 'the cat sees a bird.'",
            gradients="--text 'a dog seeks my child.'",
            attribute="--text 'the cat sees a bird.' --token 2",
            beam="--text 'the cat sees a bird.' --beam 3",
            neighbours="--text 'the cat sees a bird.'",
            length="--source data/test.en --target data/test.fr",
            curves="",
        ),
        command("align", "align run --source data/test.en --target data/test.fr"),
        command("align softly", "align run --source data/test.en --target data/test.fr --soft"),
        command("calibrate", "calibrate run --source many.en --reference many.fr --beam 2 --json"),
        command("confidence", "translate run sources.txt --beam 2 --confidence --json"),
        command("shortlist", "shortlist run"),
        command(
            "shortlisted",
            "translate run sources.txt --beam 3 --shortlist --frequent-words 9 --translations-per-word 3 --json",
        ),
        command("memory", "memory run add memory.tsv"),
        command("remembered", "translate run sources.txt --beam 2 --memory --fuzzy 60 --json"),
        command("adapted", "translate run sources.txt --beam 2 --memory --adapt"),
        training("train --from run --data memory --set training.epochs=2", "grown", killed=False),
        command("two", "translate run grown sources.txt --beam 3 --mean geometric --json"),
        command("average", "average run"),
        command("distil", "distill run --run student --beam 2 --set training.epochs=2 --json"),
        lambda: left_by("student", "student"),
        command("check", "check experiment.toml --data data --source en --target fr --trial 0 --json"),
        by_python("run"),
        command("compare", "compare run grown --source data/test.en --reference data/test.fr --samples 50 --json"),
    ]
    many = {f"many.{language}": lines(row[side] for row in pairs() * 3) for side, language in enumerate(("en", "fr"))}
    memory = {"memory.tsv": MEMORY, "memory/train.tsv": MEMORY * 4, "memory/valid.tsv": MEMORY}
    return Scene("translator", written(experiment, PAIRS | SEARCHED | memory | many), steps)


def word_translator() -> Scene:
    experiment = (
        f"task = 'translate'\n{WORDS}size = 24\n{EMBEDDING}{ENCODER}[decoder]\ncell = 'gru'\nsize = 8\ndropout = 0.1\n"
        "scheduled_sampling = {kind = 'linear', updates = 20, min_probability = 0.3}\n"
        "[attention]\nscore = 'general'\nwindow = {kind = 'local-p', radius = 4}\n"
        "[output]\nkind = 'sampled'\nproposal = {kind = 'partition', words = 15}\n"
        f"[guided_alignment]\nkind = 'learn'\nweight = 0.3\n{trained(60, 3)}"
    )
    ways = {
        "unknown words": "--beam 3 --replace-unknown --json",
        "dictionary": "--beam 3 --replace-unknown --dictionary dictionary.tsv",
        "candidates": "--beam 3 --candidates dictionary.tsv --frequent-words 6 --translations-per-word 2 --json",
        "terms": "--beam 4 --terms terms.tsv",
        "sampled candidates": "--sample --candidates dictionary.tsv --frequent-words 6 --translations-per-word 2",
    }
    steps = [
        training("train experiment.toml --data data --source en --target fr"),
        *(command(f"translate {name}", f"translate run sources.txt {way}") for name, way in ways.items()),
        command("evaluate", "evaluate run --json --no-keep --beam 2 --known-words"),
        *inspections("run", embeddings="--text cat --text dog", attention="--text 'the cat sees a zebra .'"),
    ]
    return Scene("word translator", written(experiment, PAIRS | SEARCHED), steps)


def language_model_uses(model: str) -> list[Callable[[], Answers]]:
    ways = {
        "score": f"score {model} texts.txt",
        "score words": f"score {model} texts.txt --json",
        "rescore": f"rescore {model} lists.txt --format moses",
        "generate": f"generate {model} --lines 3 --seed 2 --temperature 0.8",
        "generate top": f"generate {model} --length 12 --seed 2 --top-k 5 --top-p 0.9",
        "generate greedily": f"generate {model} --prompt 'the cat' --greedy --length 9",
        "generate by beam": f"generate {model} --prompt 'a dog' --beam 3",
        "continue": f"generate {model} --prompts texts.txt --length 6 --seed 1",
        "evaluate": f"evaluate {model} --text texts.txt --json --no-keep",
    }
    return [command(name, line) for name, line in ways.items()]


def adapted_uses(model: str) -> list[Callable[[], Answers]]:
    return [
        command("score with a cache", f"score {model} texts.txt --neural-cache 5"),
        command("evaluate dynamically", f"evaluate {model} --text texts.txt --json --no-keep --dynamic 0.01"),
    ]


def language_model(name: str, options: str, *, also: Sequence[Any] = ()) -> Scene:
    steps = [
        training("train experiment.toml --data data", killed="[training]" in options),
        command("info", "info run --json"),
        *language_model_uses("run"),
        *also,
    ]
    return Scene(name, written(f"task = 'language-model'\n{options}", TEXT | SCORED), steps)


def language_models() -> list[Scene]:
    looks = inspections(
        "run",
        gates="--text 'the cat sees a bird.'",
        gradients="--text 'the cat sees a bird.'",
        attribute="--text 'the cat sees a bird.'",
        beam="--text 'the cat' --beam 3",
        neighbours="--text 'the cat sees'",
        length="texts.txt",
        embeddings="--text cat --text dog",
        span="long.txt",
        curves="",
    )
    windows = f"[data]\nsteps = 5\n{WORDS}{EMBEDDING}[recurrence]\nsize = 6\ndropout = 0.1\n{trained(30)}"
    sentences = f"reads = 'sentences'\n{WORDS}{EMBEDDING}[recurrence]\nsize = 6\n{trained(30)}"
    spelled = (
        f"[data]\nsteps = 5\n{WORDS}[embedding]\nkind = 'character-cnn'\ncharacter_size = 4\nmax_kernel = 3\n"
        f"filters = 2\n[recurrence]\nsize = 6\n[output]\nkind = 'nce'\nnoise_samples = 5\n{trained(30)}"
    )
    layers = "[network]\nkind = 'feed-forward'\nwords = 2\nsize = 6\n"
    network = f"model = 'feed-forward'\n{WORDS}{EMBEDDING}{layers}{trained(30)}"
    mixed = [
        training("train ngram.toml --data data", "counts", killed=False),
        command("mix", "mix counts run --cache --run mixed --data data"),
        lambda: left_by("mixed", "mixed"),
        command("score mixed", "score mixed texts.txt --json"),
    ]
    ngram = f"{WORDS}[ngram]\norder = 3\n"
    found = [
        language_model("windows", windows, also=[*adapted_uses("run"), *looks, *mixed]),
        language_model("sentences", sentences),
        language_model("spelled words", spelled),
        language_model("feed-forward", network),
        language_model("ngram", f"model = 'ngram'\n{ngram}", also=[command("arpa", "export run --output out/arpa")]),
    ]
    first = found[0]
    table = written(f"task = 'language-model'\nmodel = 'ngram'\n{ngram}", {})

    def prepare() -> None:
        table()
        Path("experiment.toml").rename("ngram.toml")
        first.prepare()

    return [Scene(first.name, prepare, first.steps), *found[1:]]


SCENES = (translator(), word_translator(), *language_models())
