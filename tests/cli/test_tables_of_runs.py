"""Columns of tables: those that training reads, that runs keep, and one column more in what comes back."""

import json
import random
import shutil
from pathlib import Path

import pytest

import anaphora
from anaphora.cli.app import main

from .conftest import Cli

WORDS = ["".join(random.Random(n).choices("abcd", k=3)) + "abcd"[n % 4] for n in range(24)]


@pytest.mark.matrix
@pytest.mark.parametrize("columns", ["3,2", "english, 2"])
def test_columns_by_number_or_name(columns: str, tiny_translator: Path, cli: Cli) -> None:
    cli.enter()
    table = cli.write("table.tsv", "id\tFrench\tEnglish\n" + "".join(f"1\t{word[::-1]}\t{word}\n" for word in WORDS))
    data = [str(tiny_translator), "--data", str(table), "--source", "en", "--target", "fr", "--columns"]
    cli("check", *data, columns, "--trial", "0")
    cli("train", *data, columns, "--run", "run", "--set", "training.epochs=1")
    cli("translate", "run", table)
    for other, said in {
        "1": "--columns (data.columns) should be two, that of the source and that of the target: numbers from 1",
        "2,2": "--columns (data.columns) names one column twice: name two, that of the source and",
        "English,German": "table.tsv:1 should have columns 'English' and 'German', but has 3 columns (id, French",
    }.items():
        assert said in cli.refuse("train", *data, other, "--run", "other")


def test_a_memory_of_three_languages_is_refused_with_their_names(cli: Cli) -> None:
    texts = "".join(f'<tuv xml:lang="{language}"><seg>a</seg></tuv>' for language in ("en-us", "DE-AT", "fr"))
    content = f'<tmx version="1.4"><header srclang="en-us"/><body><tu>{texts}</tu></body></tmx>'
    said = cli.refuse("check", "--data", cli.write("m.tmx", content))
    assert "m.tmx is in (it names en-us, DE-AT, fr), source first: name them with --source" in said


RUNS = {
    "films.csv": ("classify", "review,stars", "id,Review,Stars\n", '{n},"{word}, a film",{kind}\n'),
    "two.conll": ("tag", "", "", "{word} {kind}\nis bad\n\n"),
    "spell.csv": ("transduce", "word,phones", "n,phones,word\n", "{n},{letters},{word}\n"),
}
"""Task, columns, heading and rows of each table."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each table, in a folder with the tables."""
    folder = tmp_path_factory.mktemp("runs")
    for file, (task, columns, heading, row) in RUNS.items():
        words = ({"n": n, "word": word, "kind": ("bad", "good")[n % 2]} for n, word in enumerate(WORDS))
        (folder / file).write_text(heading + "".join(row.format(**one, letters=" ".join(one["word"])) for one in words))
        train = ["train", "--data", str(folder / file), "--task", task, "--run", str(folder / f"{file}.run")]
        assert main([*train, "--columns", columns, "--set", "training.epochs=1"]) == 0
    return folder


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
    run: str, name: str, text: str, inputs: list[str], runs: Path, cli: Cli
) -> None:
    cli.enter(runs)
    Path(name).write_bytes(text.encode())
    printed = cli("predict", f"{run}.run", name).lines
    expected = anaphora.load(f"{run}.run").predict(inputs)
    assert cli("predict", f"{run}.run", name, "--json").objects == [one.json() for one in expected]
    more = len(printed) - len(expected)  # of a heading
    for line, given, one in zip(printed[more:], text.splitlines()[more:], expected, strict=True):
        assert line.startswith(given.rstrip("}")) and str(one) in line.removeprefix(given)


@pytest.mark.slow
def test_a_tagger_writes_over_the_column_that_is_named(runs: Path, cli: Cli) -> None:
    cli.enter(runs)
    row = "1\tab\t_\tX\t_\t_\t0\t_\t_\t_"
    for text, column, place in (
        (cli.write("a.conll", "ab X Y Z\n"), "3", 2),
        (cli.write("a.conllu", f"{row}\n\n"), "xpos", 4),
    ):
        given = text.read_text().strip()
        added = cli("predict", "two.conll.run", text).out
        cells = cli("predict", "two.conll.run", text, "--columns", column).out.split()
        assert added.startswith(given) and len(added.split()) > len(given.split())
        assert cells[place] in ("good", "bad") and len(cells) == len(given.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "run", "name", "text", "columns", "message"),
    [
        ("--data", "films.csv", "a.csv", "klass,n,body\nbad,1,x\n", "body,klass", "have columns 'Review' and 'Stars'"),
        ("--text", "two.conll", "a.conllu", "1\tab\t_\tgood\t_\t_\t0\t_\t_\t_\n\n", "upos", "tags with --columns"),
        ("--data", "spell.csv", "a.tsv", "sounds\tword\nA B\tab\n", "word,sounds", "have columns 'word' and 'phones'"),
    ],
)
def test_evaluation_takes_the_columns_that_are_named_and_those_of_training_alone_otherwise(
    option: str, run: str, name: str, text: str, columns: str, message: str, runs: Path, cli: Cli
) -> None:
    cli.enter(runs)
    Path(name).write_text(text)
    assert message in cli("evaluate", f"{run}.run", option, name, code=2).err
    scores = cli("evaluate", f"{run}.run", option, name, "--columns", columns, "--json").json["splits"][name]
    assert scores.get("tokens") or scores.get("inputs") or sum(map(sum, scores["confusion"])) == 1


@pytest.mark.slow
def test_a_run_that_does_not_know_its_columns_reads_usual_names_and_single_columns(runs: Path, cli: Cli) -> None:
    cli.enter(runs)
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
    text = cli.write("a.conllu", "".join(f"1\t{word}\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n" for word in WORDS))
    check = ["check", "--task", "tag", "--data", str(text), "--trial", "0"]
    for asked in (["--set", f"data.column={json.dumps(column)}"], ["--columns", column]):
        assert "sentences (column XPOS)" in cli(*check, *asked, code=None).err
    assert "Did you mean 'XPOS'?" in cli.refuse(*check, "--columns", "XPSO")


def test_csv_is_named_where_a_tagger_reads_columns(cli: Cli) -> None:
    table = cli.write("ner.csv", "Sentence #,Word,POS,Tag\nSentence: 1,Ada,NNP,B-per\n,is,VBZ,O\n")
    said = cli.refuse("check", "--task", "tag", "--data", table, "--trial", "0")
    assert "ner.csv is CSV: put tabs between its columns" in said
