"""Networks of real-valued sequences: they learn, and what they say of a row does not depend on other rows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from anaphora import recipes
from anaphora.batch import Batch, Ids, Values
from anaphora.errors import ShapeError
from anaphora.experiment.reading import read_experiment
from anaphora.kernels.densities import Draws, Mixture
from anaphora.models.values import PredictionConfig, PredictionNetwork, SynthesisConfig, SynthesisNetwork
from anaphora.protocols import VocabularyInfo

SYMBOLS = VocabularyInfo(12, 0, 1, 2, 3)
STROKES = {"kind": "strokes", "size": 2, "mean": (0.0, 0.0), "deviation": (1.0, 1.0)}
VECTORS = {"kind": "vectors", "size": 3, "mean": (0.0,) * 3, "deviation": (1.0,) * 3}
OUTPUTS = ({"kind": "mixture", "components": 3}, {"kind": "squared-error"})


def prediction(values: dict[str, object], output: dict[str, object]) -> PredictionNetwork:
    config = PredictionConfig.parse({"values": values, "output": output, "recurrence": {"size": 6}}, "a test")
    network = PredictionNetwork(config)
    network.initialise(1)
    return network.eval()


def synthesis(values: dict[str, object], output: dict[str, object]) -> SynthesisNetwork:
    decoder = {"size": 6, "initial_state": "zero", "input_feeding_from": "context"}
    tables = {"values": values, "output": output, "decoder": decoder, "encoder": {"size": 4}}
    network = SynthesisNetwork(SynthesisConfig.parse(tables, "a test"), SYMBOLS)
    network.initialise(1)
    return network.eval()


def batch(width: int, pen: int, text: bool = False) -> Batch:
    source = torch.Generator().manual_seed(3)
    vectors = torch.randn(3, 5, width, generator=source)
    flags = torch.randint(0, 2, (3, 5, pen + 1), generator=source).float()
    lengths = np.array([5, 3, 1])
    targets = Values(torch.cat([vectors, flags], 2).numpy(), lengths)
    read = np.concatenate([np.zeros((3, 1, width + pen), np.float32), targets.values_BTD[:, :-1, : width + pen]], 1)
    ids = Ids(np.array([[5, 6, 7, 3], [8, 3, 0, 0], [4, 5, 3, 0]]), np.array([4, 2, 3]))
    return Batch.of_rows(range(3), ids if text else Values(read, lengths), targets)


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: output["kind"])
@pytest.mark.parametrize("values", [STROKES, VECTORS], ids=["strokes", "vectors"])
@pytest.mark.parametrize("build", [prediction, synthesis])
def test_a_network_learns_and_expects_what_its_loss_says(
    build: type, values: dict[str, object], output: dict[str, object]
) -> None:
    network, pen = build(values, output), int(values["kind"] == "strokes")
    given = batch(2 if pen else 3, pen, build is synthesis)
    loss, carry = network(given)
    assert carry == {} and loss.count == 9
    expected = network.predict(given)
    open_BT = given.targets.mask_BT  # type: ignore[union-attr]
    of_vectors = expected.log_probs_BT
    if of_vectors is None:
        errors = expected.means_BTD - given.targets.values_BTD[..., : network.output.size]  # type: ignore[union-attr]
        of_vectors = -0.5 * (errors**2).sum(2)
    total = -(of_vectors + expected.flag_log_probs_BT)[open_BT].sum()
    assert total == pytest.approx(loss.sum.item(), rel=1e-4, abs=1e-4)
    loss.sum.backward()
    with torch.no_grad():
        for weight in network.parameters():
            if weight.grad is not None:
                weight -= 1e-4 * weight.grad.sign()
    assert network(given)[0].sum < loss.sum


@pytest.mark.parametrize("build", [prediction, synthesis])
def test_a_step_at_a_time_gives_the_states_of_the_whole_sequence(build: type) -> None:
    network = build(STROKES, OUTPUTS[0])
    given = batch(2, 1, build is synthesis)
    whole = network.predict(given).means_BTD
    targets_BTX = given.targets.values_BTD[..., :3]  # type: ignore[union-attr]
    state = network.start(given)
    x_BX = np.zeros((3, 3), np.float32)
    for step in range(5):
        states_BH, state = network.advance(state, x_BX)
        parameters_BP, _ = network.output.parameters_of(states_BH)
        np.testing.assert_allclose(Mixture.of(parameters_BP, network.output.shape).mean_ND[0], whole[0, step])
        x_BX = targets_BTX[:, step]


def test_batches_of_another_kind_are_refused() -> None:
    with pytest.raises(ShapeError, match="inputs are Values"):
        prediction(STROKES, OUTPUTS[0])(batch(2, 1, text=True))
    with pytest.raises(ShapeError, match="Values of 2 numbers and 2 flags"):
        prediction(STROKES, OUTPUTS[0]).output.loss(torch.zeros(5, 3, 6), batch(4, 1).to(torch.device("cpu")).targets)


def test_the_recipe_of_strokes_builds_a_network_that_learns() -> None:
    experiment = read_experiment(recipes.read("strokes"), "strokes.toml")
    own = {name: value for name, value in experiment.tables().items() if name in SynthesisConfig.model_fields}
    network = SynthesisNetwork(SynthesisConfig.parse({**own, "values": STROKES}, "strokes"), SYMBOLS)
    network.initialise(1)
    network.eval()(batch(2, 1, text=True))[0].sum.backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in network.output.parameters())
    assert {part.kind for part in network.programs()["decoder"]} >= {"GaussianWindow", "Move"}


def test_a_bias_brings_draws_nearer_to_what_is_likeliest() -> None:
    output = prediction(STROKES, OUTPUTS[0]).output
    source = np.random.default_rng(5)
    states_NH = np.repeat(source.standard_normal((1, 6), np.float32), 4000, axis=0)
    draws = Draws(source.random(4000), source.standard_normal((4000, 2)), source.random((4000, 2)))
    with torch.inference_mode():
        free, tidy = (output.draw(states_NH, draws, bias) for bias in (0.0, 3.0))
    assert tidy[:, :2].var(0).sum() < free[:, :2].var(0).sum()
    rates = free[:, 2:].mean(0)
    assert (abs(tidy[:, 2:].mean(0) - 0.5) > abs(rates - 0.5)).all()


@pytest.mark.parametrize("build", [prediction, synthesis])
def test_what_is_expected_of_a_row_has_the_same_bits_alone_and_among_others(build: type) -> None:
    network, given = build(STROKES, OUTPUTS[0]), batch(2, 1, build is synthesis)
    together = network.predict(given)
    for row in range(3):
        read, written = (
            replace(items, **{name: tensor[row : row + 1] for name, tensor in vars(items).items()})  # type: ignore[type-var]
            for items in (given.inputs, given.targets)
        )
        found, length = network.predict(Batch.of_rows([row], read, written)), int(written.lengths_B[0])
        for whole, part in zip(together, found, strict=True):
            assert whole is not None and part is not None
            np.testing.assert_array_equal(whole[row, :length], part[0, :length])
