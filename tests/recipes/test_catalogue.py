import re
from itertools import pairwise

import pytest

from anaphora import recipes
from anaphora.errors import ConfigError
from anaphora.experiment.schema import read_experiment
from anaphora.models import registry
from anaphora.protocols import Batch, Sequence, Symbols

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_says_what_it_is_where_it_comes_from_and_how_to_run_it(name: str) -> None:
    head = re.match(r"(?:#.*\n)+", recipes.read(name))
    assert head is not None
    assert recipes.describe(name).endswith(".")
    for word in ("# Paper:", "# Data:", "# Run:"):
        assert word in head[0]


@pytest.mark.parametrize("name", recipes.names())
def test_every_recipe_is_an_experiment_whose_network_learns(name: str) -> None:
    experiment = read_experiment(recipes.read(name), f"{name}.toml")
    symbols = Symbols(40, 0, 1, 2, 3)
    sides = ("source", "target") if experiment.task == "translate" else ("text",)
    model = registry.build(experiment.task, experiment.tables(), dict.fromkeys(sides, symbols), name)
    model.initialise(1)
    model.eval()
    ids = Sequence(torch.tensor([[5, 6, 7, 3], [8, 3, 0, 0]]), torch.tensor([4, 2]))
    batch = Batch(ids, ids, torch.arange(2), torch.zeros(2, dtype=torch.bool))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss, _ = model(batch)
        loss.sum.backward()
        optimizer.step()
        losses.append(loss.sum.item())
    assert all(after < before for before, after in pairwise(losses))


def test_the_multi30k_recipe_keeps_to_five_million_parameters() -> None:
    experiment = read_experiment(recipes.read("multi30k-en-de"), "multi30k-en-de.toml")
    symbols = Symbols(experiment.text.size, 0, 1, 2, 3)
    model = registry.build("translate", experiment.tables(), {"source": symbols, "target": symbols}, "multi30k")
    assert sum(weight.numel() for weight in model.parameters()) <= 5_000_000


def test_an_unknown_recipe_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'multi30k' is unknown\. Known: .* Did you mean 'multi30k-en-de'\?"):
        recipes.read("multi30k")
