import re
from collections.abc import Iterator
from itertools import pairwise
from math import log

import pytest
from typer.main import get_command

from anaphora import recipes
from anaphora.batch import Batch, Grid, Ids, Labels
from anaphora.cli.app import app
from anaphora.config import is_table, options_of
from anaphora.data.catalogue import CORPORA
from anaphora.experiment.reading import read_experiment
from anaphora.protocols import VocabularyInfo
from tests.networks import build

torch = pytest.importorskip("torch")


def head_of(name: str) -> str:
    """Return the comments at the head of a recipe."""
    (head,) = re.findall(r"\A(?:#.*\n)+", recipes.read(name))
    return str(head)


def test_every_recipe_says_what_it_is_where_it_comes_from_and_how_to_run_it() -> None:
    for name in recipes.names():
        assert recipes.describe(name).endswith(".")
        assert [word for word in ("# Paper:", "# Data:", "# Run:") if word not in head_of(name)] == [], name


FOUNDING = [
    *("kalchbrenner2013", "kalchbrenner2013-rctm2", "sutskever2014", "cho2014", "cho2014-grconv", "bahdanau2015"),
    *("rnnencdec", "jean2015", "luong2015-rare", "luong2015", "luong-tutorial", "gulcehre2015", "graves2013-window"),
    *("chorowski2015", "bilstm-attention"),
]
"""The recipes of founding translation papers."""


def paragraphs(name: str) -> list[tuple[str, str]]:
    """The comments at the head of a recipe, by the word each begins with; lines joined."""
    parts = re.split(r"^# ([A-Z][a-z' ]+):", head_of(name), flags=re.MULTILINE)[1:]
    joined = [re.sub(r"\n# +", " ", text).strip() for text in parts[1::2]]
    return list(zip(parts[::2], joined, strict=True))


def settings(text: str) -> list[str]:
    """The options that a text sets, signs after them left out."""
    return [part.strip("'").rstrip(".,;:") for part in re.findall(r"--set ('[^']*'|[^ ]+)", text)]


ALL_SETTINGS = [
    (name, word, settings(text)) for name in recipes.names() for word, text in paragraphs(name) if settings(text)
]
ALONE = ("Paper", "Others")
"""The words after which every option is given by itself; after the others, all at once."""
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
COMMAND_LINES = [
    (name, verb, sorted({*re.findall(r"(?<!\S)--[a-z-]+", rest)}))
    for name in recipes.names()
    for _, text in paragraphs(name)
    for verb, rest in re.findall(r"anaphora ([a-z]+)((?:(?!anaphora |  ).)*)", text)
]


def test_the_recipe_of_a_paper_has_its_equations_its_size_and_what_differs() -> None:
    for name in FOUNDING:
        found = dict(paragraphs(name))
        assert found.keys() >= {"Paper", "Paper's size", "Differs", "Data", "Run", "Yours"}, name
        assert " = " in found["Paper"], name
        assert settings(found["Paper's size"]), name


@pytest.mark.parametrize("name", FOUNDING)
def test_a_network_of_the_paper_s_size_can_be_built(name: str) -> None:
    experiment = read_experiment(recipes.read(name), name, settings(dict(paragraphs(name))["Paper's size"]))
    sides = dict.fromkeys(("source", "target"), VocabularyInfo(40, 0, 1, 2, 3))
    with torch.device("meta"):
        assert [*build(experiment.task, experiment.tables(), sides, name).parameters()]


def test_options_that_the_head_of_a_recipe_names_are_taken_by_it() -> None:
    for name, word, given in ALL_SETTINGS:
        for together in [[one] for one in given] if word in ALONE else [given]:
            read_experiment(recipes.read(name), name, together)


def values_in(table: object) -> Iterator[tuple[str, object]]:
    """The options of a table and of those in it, with their values; of a table in it that has a kind, the kind."""
    for name in options_of(type(table)):
        value = getattr(table, name)
        yield name, getattr(value, "kind", value)
        if is_table(type(value)):
            yield from values_in(value)


def test_options_that_stand_beside_the_equations_of_a_recipe_have_these_values() -> None:
    for name in recipes.names():
        values = set(values_in(read_experiment(recipes.read(name), name)))
        assert {*re.findall(r'\b([a-z_]+) "([a-z-]+)"', head_of(name))} <= values, name


def test_commands_that_the_head_of_a_recipe_names_have_the_options_it_gives() -> None:
    # tests/test_documents.py reads whole commands where they stand apart; these stand in a sentence as well
    for name, verb, given in COMMAND_LINES:
        assert verb in COMMANDS, name
        assert {*given} <= {option for one in COMMANDS[verb].params for option in one.opts}, name


COUNTED = [name for name in recipes.names() if name.endswith("ngram")]
ALIGNERS = [name for name in recipes.names() if name.endswith("aligner")]
TAGGERS = [name for name in recipes.names() if name.endswith("upos")]  # built over the tags of data: tests/tasks/tag
TRACES = ["strokes"]  # of vectors: tests/models/test_values.py


@pytest.mark.matrix
@pytest.mark.parametrize("name", sorted({*recipes.names()} - {*COUNTED, *ALIGNERS, *TAGGERS, *TRACES}))
def test_every_recipe_is_an_experiment_whose_network_learns(name: str) -> None:
    experiment = read_experiment(recipes.read(name), f"{name}.toml")
    symbols = VocabularyInfo(40, 0, 1, 2, 3)
    sides = ("source", "target") if experiment.task in ("translate", "transduce") else ("text",)
    words = {"text": [f"word{number}" for number in range(36)]}
    tables, labelled = experiment.tables(), experiment.task == "classify"
    if labelled:  # its classes come from the data
        tables["classes"]["names"] = ["a", "b"]
    model = build(experiment.task, tables, dict.fromkeys(sides, symbols), name, words)
    model.initialise(1)
    model.eval()
    ids = Ids(torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]]), torch.tensor([4, 2]))
    targets = Labels(torch.tensor([0, 1])) if labelled else ids
    inputs = Grid(torch.ones(2, 16, experiment.encoder.width)) if experiment.task == "describe" else ids
    batch = Batch(inputs, targets, torch.arange(2), torch.zeros(2, dtype=torch.bool))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss, _ = model(batch)
        loss.sum.backward()
        optimizer.step()
        losses.append(loss.sum.item())
    assert all(after < before for before, after in pairwise(losses))


@pytest.mark.parametrize("name", COUNTED)
def test_every_recipe_of_a_count_model_predicts_a_text_it_counted(name: str) -> None:
    experiment = read_experiment(recipes.read(name), f"{name}.toml")
    model = build(experiment.task, experiment.tables(), {"text": VocabularyInfo(40, 0, 1, 2, 3)}, name)
    ids = torch.tensor([[3, *([5, 6, 7, 8, 3] * 20)]])
    model.fit(ids[0].numpy(), lambda order: None)
    row, lengths = Ids(ids[:, :-1], torch.tensor([100])), torch.tensor([100])
    loss, _ = model(Batch(row, Ids(ids[:, 1:], lengths), torch.arange(1), torch.zeros(1, dtype=torch.bool)))
    assert loss.sum.item() < 0.1 * 100 * log(40)


@pytest.mark.parametrize("name", [name for name in recipes.names() if name.startswith("multi30k")])
def test_the_multi30k_recipes_keep_to_five_million_parameters(name: str) -> None:
    experiment = read_experiment(recipes.read(name), name)
    symbols = VocabularyInfo(experiment.text.size, 0, 1, 2, 3)
    model = build("translate", experiment.tables(), {"source": symbols, "target": symbols}, "multi30k")
    assert sum(weight.numel() for weight in model.parameters()) <= 5_000_000


def test_the_corpus_of_a_recipe_has_the_parts_it_names() -> None:
    for name in recipes.names():
        data = read_experiment(recipes.read(name), name).data
        if data.corpus != "none":
            files = [file.name for file in CORPORA[data.corpus].files]
            for part in (data.train, data.valid):
                assert any(re.search(rf"(^|\.){part}\.", file) for file in files), (name, part)
