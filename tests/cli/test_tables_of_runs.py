"""Columns of tables: those that training reads, that runs keep, and one column more in what comes back."""

import json
import random
import shutil
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main

from .conftest import Cli


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    words = [a + b + c for a in "abc" for b in "de" for c in "fgh"]
    path = tmp_path / "table.tsv"
    path.write_text("id\tFrench\tEnglish\n" + "".join(f"{n}\t{w[::-1]}\t{w}\n" for n, w in enumerate(words)))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.matrix
@pytest.mark.parametrize("columns", ["3,2", "english, 2"])
def test_columns_by_number_or_name(columns: str, table: Path, tiny_translator: Path, cli: Cli) -> None:
    data = [str(tiny_translator), "--data", str(table), "--source", "en", "--target", "fr", "--columns", columns]
    cli("check", *data, "--trial", "0")
    cli("train", *data, "--run", "run", "--set", "training.epochs=1")
    cli("translate", "run", table)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("1", "data.columns should be two, that of the source and that of the target: numbers from 1, or names"),
        ("English,German", "table.tsv:1 should have columns 'English' and 'German', but has 3 columns (id, French"),
    ],
)
def test_other_columns_are_refused(columns: str, message: str, table: Path, tiny_translator: Path, cli: Cli) -> None:
    data = ["--data", str(table), "--source", "en", "--target", "fr", "--columns", columns]
    assert message in cli.refuse("train", tiny_translator, *data, "--run", "run")


def test_a_memory_of_three_languages_is_refused_with_their_names(cli: Cli) -> None:
    texts = "".join(f'<tuv xml:lang="{language}"><seg>a</seg></tuv>' for language in ("en-us", "DE-AT", "fr"))
    (cli.folder / "m.tmx").write_text(
        f'<tmx version="1.4"><header srclang="en-us"/><body><tu>{texts}</tu></body></tmx>'
    )
    assert "m.tmx is in (it names en, de, fr), source first: name them with --source" in cli.refuse(
        "check", "--data", cli.folder / "m.tmx"
    )


ONE_EPOCH = ["--set", "embedding.size=4", "--set", "encoder.size=4", "--set", "training.epochs=1"]
SIZES = {
    "classify": [],
    "tag": ["--set", "characters.filters=2", "--set", "characters.max_kernel=2"],
    "transduce": ["--set", "decoder.size=4", "--set", "decoder.readout_size=4", "--set", "attention.size=4"],
}
WORDS = ["".join(random.Random(n).choices("abcd", k=3)) + "abcd"[n % 4] for n in range(24)]
TABLES = {
    "films.csv": "id,Review,Stars\n"
    + "".join(f'{n},"{w}, a film",{"good" if n % 2 else "bad"}\n' for n, w in enumerate(WORDS)),
    "two.conll": "".join(f"{word} {'A' if n % 2 else 'B'}\nis B\n\n" for n, word in enumerate(WORDS)),
    "spell.csv": "n,phones,word\n" + "".join(f"{n},{' '.join(word.upper())},{word}\n" for n, word in enumerate(WORDS)),
}
RUNS = {
    "films.csv": ("classify", ["--columns", "review,stars"], ("Review", "Stars"), ("id", "Review", "Stars")),
    "two.conll": ("tag", [], (1, 2), ("1", "2")),
    "spell.csv": ("transduce", ["--columns", "word,phones"], ("word", "phones"), ("n", "phones", "word")),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each table, in a folder with the tables."""
    folder = tmp_path_factory.mktemp("runs")
    for file, (task, options, *_) in RUNS.items():
        (folder / file).write_text(TABLES[file])
        train = ["train", "--data", str(folder / file), "--task", task, "--run", str(folder / f"{file}.run")]
        assert main([*train, *options, *ONE_EPOCH, *SIZES[task]]) == 0
    return folder


@pytest.fixture
def in_runs(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(runs)
    return runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "name", "text", "inputs"),
    [
        ("films.csv", "a.csv", 'STARS;REVIEW\r\nbad;"x, a ""film"""\r\n', ['x, a "film"']),
        ("films.csv", "a.jsonl", '{"stars": "bad", "review": "x film"}\n', ["x film"]),
        ("spell.csv", "a.tsv", "WORD\tphones\nab\tA B\n", ["ab"]),
    ],
)
def test_a_table_is_answered_by_its_input_alone(
    run: str, name: str, text: str, inputs: list[str], in_runs: Path, cli: Cli
) -> None:
    Path(name).write_bytes(text.encode())
    printed = cli("predict", f"{run}.run", name).lines
    expected = anaphora.load(f"{run}.run").predict(inputs)
    assert cli("predict", f"{run}.run", name, "--json").objects == [one.json() for one in expected]
    more = len(printed) - len(expected)  # of a heading
    for line, given, one in zip(printed[more:], text.splitlines()[more:], expected, strict=True):
        assert line.startswith(given.rstrip("}")) and str(one) in line.removeprefix(given)


@pytest.mark.slow
def test_a_tagger_writes_over_the_column_that_is_named(in_runs: Path, cli: Cli) -> None:
    Path("a.conll").write_text("ab X Y Z\n")
    row = "1\tab\t_\tX\t_\t_\t0\t_\t_\t_\n"
    Path("a.conllu").write_text(f"{row}\n")
    assert cli("predict", "two.conll.run", "a.conll").out.startswith("ab X Y Z ")
    assert cli("predict", "two.conll.run", "a.conll", "--columns", "3").out in ("ab X A Z\n", "ab X B Z\n")
    tagged = cli("predict", "two.conll.run", "a.conllu", "--columns", "xpos").out
    assert tagged.split("\t")[3:5] in (["X", "A"], ["X", "B"])
    assert cli("predict", "two.conll.run", "a.conllu").out.startswith(row.rstrip("\n") + "\t")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "run", "name", "text", "columns", "message"),
    [
        ("--data", "films.csv", "a.csv", "klass,n,body\nbad,1,x\n", "body,klass", "have columns 'Review' and 'Stars'"),
        ("--text", "two.conll", "a.conllu", "1\tab\t_\tA\t_\t_\t0\t_\t_\t_\n\n", "upos", "tags with --columns"),
        ("--data", "spell.csv", "a.tsv", "sounds\tword\nA B\tab\n", "word,sounds", "have columns 'word' and 'phones'"),
    ],
)
def test_evaluation_takes_the_columns_that_are_named_and_those_of_training_alone_otherwise(
    option: str, run: str, name: str, text: str, columns: str, message: str, in_runs: Path, cli: Cli
) -> None:
    Path(name).write_text(text)
    assert message in cli("evaluate", f"{run}.run", option, name, code=2).err
    scores = cli("evaluate", f"{run}.run", option, name, "--columns", columns, "--json").json["splits"][name]
    assert scores.get("tokens") or scores.get("inputs") or sum(map(sum, scores["confusion"])) == 1


@pytest.mark.slow
def test_a_run_that_does_not_know_its_columns_reads_usual_names_and_single_columns(in_runs: Path, cli: Cli) -> None:
    old = shutil.copytree("films.csv.run", cli.folder / "old")
    lines = (old / "experiment.toml").read_text()
    begin = lines.index("columns = [")
    (old / "experiment.toml").write_text(lines[:begin] + lines[lines.index("language", begin) :])
    for text in ("label\ttext\nbad\tfilm\n", "film\n"):
        Path("a.tsv").write_text(text)
        cli("predict", old, "a.tsv")
    Path("a.tsv").write_text("bad\tfilm\n")
    complaint = cli.refuse("predict", old, "a.tsv")
    assert "a.tsv:1 has 2 columns (bad, film), but nothing says which is the input" in complaint


@pytest.mark.parametrize("column", ["xpos", "5"])
def test_the_column_of_a_tagger_is_reported_as_it_was_chosen(column: str, cli: Cli) -> None:
    row = "1\t{}\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    (cli.folder / "a.conllu").write_text("".join(row.format(word) for word in WORDS))
    check = ["check", "--task", "tag", "--data", str(cli.folder / "a.conllu"), "--trial", "0"]
    for asked in (["--set", f"data.column={json.dumps(column)}"], ["--columns", column]):
        assert "sentences (column XPOS)" in cli(*check, *asked, code=None).err
    assert "Did you mean 'XPOS'?" in cli.refuse(*check, "--columns", "XPSO")
