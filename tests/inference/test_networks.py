"""Networks without torch answer as those of torch do, and a row as it does alone, whatever the options."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from anaphora import recipes
from anaphora.batch import Batch, Constraints, FeaturedIds, Grid, Ids, SpeltIds, Values, pad
from anaphora.data.ragged import Ragged
from anaphora.experiment.reading import read_experiment
from anaphora.files import DamagedError
from anaphora.inference.network import open_network
from anaphora.kernels.densities import Draws
from anaphora.models.description import describe
from anaphora.protocols import FeaturedVocabularyInfo, VocabularyInfo
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.runs import load_trained
from tests.inference.native import Array, assert_near, assert_stepper, opened, rows_of
from tests.networks import MORE_TRANSLATORS, TRANSLATORS, build, untrained_translator
from tests.search.native import IN_C, Stepwise, is_compiled

SYMBOLS = VocabularyInfo(40, 0, 1, 2, 3)
SIDES = dict.fromkeys(("source", "target", "text", "characters", "tags"), SYMBOLS)
LETTERS = [f"{'ab' * number}{number}" for number in range(36)]
WORDS = {"text": LETTERS, "characters": [*"abcdefgh"], "tags": ["O", "B-X", "I-X", "B-Y"]}
LENGTHS = (7, 1, 9, 4)
SMALL = {"embedding": {"size": 6}, "encoder": {"size": 5}, "decoder": {"size": 8}}


def drawn(model: torch.nn.Module) -> torch.nn.Module:
    """The network with random weights, counts and lengths."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.5 * torch.randn(weight.shape, generator=generator))
        for buffer in model.buffers():
            if buffer.dtype == torch.int64 and buffer.dim() == 1 and not buffer.any():
                buffer.copy_(torch.randint(0, 90, buffer.shape, generator=generator))
    return model.eval()


def made(task: str, tables: dict[str, Any]) -> Any:
    return drawn(build(task, tables, SIDES, "a test", WORDS))


def rows(*lengths: int, size: int = SYMBOLS.size) -> Ids:
    numbers = np.random.default_rng(4)
    return pad([list(numbers.integers(4, size, length - 1)) for length in lengths], end=SYMBOLS.eos)


def texts() -> Batch:
    return Batch.of_rows(range(len(LENGTHS)), rows(*LENGTHS), rows(*LENGTHS[::-1]))


def read_ids(rows: int, size: int = SYMBOLS.size) -> Array:
    return np.random.default_rng(2).integers(4, size, (4, rows))


def merged(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, **{name: size | options.get(name, {}) for name, size in SMALL.items()}}


def scale_of(size: int) -> dict[str, Any]:
    """Return the scale of strokes, where vectors are of two numbers, or of vectors."""
    kind = "strokes" if size == 2 else "vectors"
    return {"kind": kind, "size": size, "mean": (0.0,) * size, "deviation": (1.0,) * size}


def made_of_values(kind: str, output: dict[str, Any], size: int) -> Any:
    tables: dict[str, Any] = {"model": kind, "values": scale_of(size), "output": output}
    if kind == "synthesis":
        tables |= merged({"decoder": {"initial_state": "zero", "input_feeding_from": "context"}})
    return made("trace", tables)


def translator(name: str) -> tuple[Any, Batch]:
    """A translator of ``TRANSLATORS``, and what it reads."""
    model = untrained_translator(name).model
    return model, Batch.of_rows(range(4), rows(*LENGTHS, size=model.symbols.size))


def featured() -> tuple[Any, Batch]:
    """A translator whose decoder reads features, and what it reads."""
    model = drawn(build("translate", merged({}), SIDES | {"source": FeaturedVocabularyInfo(*SYMBOLS)}))
    given = rows(*LENGTHS)
    features = pad([[9, 8, 5], [], [5], [6, 6]], end=SYMBOLS.eos).ids_BT
    return model, replace(texts(), inputs=FeaturedIds(given.ids_BT, given.lengths_B, features))


GRIDS: dict[str, dict[str, Any]] = {
    "xu": {
        "encoder": {"layer": "none", "positions": False},
        "attention": {"score": "concat", "query": "previous", "context": "state", "gate": True},
        "decoder": {"size": 8, "initial_state": "mean", "input_feeding": False},
    },
    "vinyals": {
        "encoder": {"rows": 1, "columns": 1, "layer": "linear", "positions": False, "size": 6},
        "attention": "none",
        "decoder": {"size": 8, "input_feeding": False},
    },
    "positions": {"encoder": {"layer": "relu", "size": 6}, "decoder": {"size": 8}},
    "tanh": {"encoder": {"layer": "tanh", "size": 8}, "decoder": {"size": 8, "initial_state": "mean"}},
}


def describer(name: str) -> tuple[Any, Batch]:
    """A describer of ``GRIDS``, and what it reads."""
    tables = {"embedding": {"size": 6}, **GRIDS[name]}
    encoder = {"rows": 2, "columns": 3, "width": 4} | tables["encoder"]
    shape = (4, encoder["rows"] * encoder["columns"], 4)
    grid = Grid(np.random.default_rng(2).normal(size=shape).astype(np.float32))
    return made("describe", tables | {"encoder": encoder}), Batch.of_rows(range(4), grid)


def transducer_of_vectors() -> tuple[Any, Batch]:
    model = made("transduce", {"model": "vectors", **merged({"values": scale_of(3)})})
    return model, Batch.of_rows(range(4), values())


WRITERS: dict[str, Callable[[], tuple[Any, Batch]]] = {
    **{name: partial(translator, name) for name in TRANSLATORS},
    **{name: partial(describer, name) for name in GRIDS},
    "features": featured,
    "vectors": transducer_of_vectors,
}
"""Networks that write tokens, each with what it reads."""


@pytest.mark.parametrize("name", WRITERS)
def test_a_network_that_writes(name: str) -> None:
    model, given = WRITERS[name]()
    assert_stepper(opened(model), model, given, read_ids(8, model.stepper().size))


def test_features_are_read() -> None:
    model, given = featured()
    assert not np.allclose(opened(model).target_states(given), opened(model).target_states(texts()))


@pytest.mark.parametrize("name", MORE_TRANSLATORS)
def test_a_translator_of_other_encoders(name: str) -> None:
    options = MORE_TRANSLATORS[name]
    tables = merged(options)
    if "convolution" in tables["encoder"].get("kind", "") and "gated" not in tables["encoder"]["kind"]:
        del tables["encoder"]["size"]
    model = made("translate", tables)
    native, given = opened(model), texts()
    assert_stepper(native, model, given, read_ids(8))
    if name != "columns":  # whose lengths are known in training alone
        with torch.no_grad():
            assert_near([native.target_states(given)], [model.target_states(given)])
        for row in range(4):
            alone = native.target_states(rows_of(given, slice(row, row + 1)))
            np.testing.assert_array_equal(native.target_states(given)[: len(alone), row], alone[:, 0])


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("output", [{}, {"kind": "sampled", "bias": False}, {"fixed_norm": 4.0}])
def test_candidates(narrow: bool, output: dict[str, Any]) -> None:
    model = made("translate", merged({"output": output}))
    candidates = pad([[3, 5, 6], list(range(3, 33)), [9, 3], [3]])
    given = Batch.of_rows(range(4), rows(*LENGTHS), constraints=Constraints(candidates=candidates, narrow=narrow))
    assert_stepper(opened(model), model, given, read_ids(8))


OUTPUTS: list[dict[str, Any]] = [
    {"kind": "full", "tied": True},
    {"kind": "full", "bias": False},
    {"kind": "full", "tied": True, "fixed_norm": 4.0},
    {"kind": "sampled"},
    {"kind": "nce"},
    {"kind": "adaptive", "cutoffs": [5, 12]},
    {"kind": "adaptive", "bias": False},
    {"kind": "class-factored"},
    {"kind": "class-factored", "bias": False, "bins": "unigram"},
    {"kind": "hierarchical"},
    {"kind": "hierarchical", "bias": False},
]
STREAM = {"recurrence": {"size": 6}, "embedding": {"size": 6}}
LANGUAGE_MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    **{str(output): ("recurrent", {**STREAM, "output": output}) for output in OUTPUTS},
    "sentences": ("recurrent", {**STREAM, "reads": "sentences"}),
    "learned": ("recurrent", {"recurrence": {"size": 5, "layers": 2, "cell": "gru", "initial_state": "learned"}}),
    "window": ("recurrent", {"recurrence": {"size": 5, "truncation": {"kind": "window", "steps": 2}}}),
    "characters": ("recurrent", {**STREAM, "embedding": {"kind": "character-cnn", "filters": 2, "highways": 2}}),
    "feed-forward": ("feed-forward", {"network": {"kind": "feed-forward", "words": 3, "direct": True}}),
    "normalised": ("feed-forward", {"network": {"kind": "feed-forward", "words": 3, "layer_norm": True}}),
    "log-bilinear": ("feed-forward", {"network": {"kind": "log-bilinear", "words": 3}}),
    "diagonal": ("feed-forward", {"network": {"kind": "log-bilinear", "words": 4, "diagonal": True}}),
    "convolution": ("feed-forward", {"network": {"kind": "convolution", "words": 2, "layers": 3, "bias": False}}),
}


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
def test_a_language_model(name: str) -> None:
    kind, tables = LANGUAGE_MODELS[name]
    model = made("language-model", {"model": kind, **tables})
    native = opened(model)
    first, again = (Batch.of_rows(range(4), rows(*LENGTHS), rows(*LENGTHS)) for _ in range(2))
    assert_stepper(native, model, first, read_ids(8))
    again.carry_mask_B[1:3] = True
    with torch.inference_mode():
        wanted, carry = model.target_log_probs(first)
        found_all, own = native.target_log_probs(first)
        assert_near([found_all], [wanted])
        assert carry.keys() >= own.keys()
        assert_near([own[key] for key in own], [carry[key] for key in own])
        found, wanted = native.states_and_target_log_probs(again, own)[:2], model.target_log_probs(again, carry)
        assert_near(found[1:], wanted[:1])
    if kind == "recurrent":
        tokens, followers = read_ids(4)[0], np.array([4, 9, 5])
        log_probs, after = native.following_log_probs(None, tokens, np.array([0, 0, 3]), followers)
        step = native.stepper().advance(None, native.initial_state(4), tokens)
        assert_near([log_probs], [step.log_probs_NV[[0, 0, 3], followers]])
        assert_near(after.values(), step.state.values())
    for row in range(4):
        single, _ = native.target_log_probs(rows_of(first, slice(row, row + 1)))
        np.testing.assert_array_equal(found_all[row, : single.shape[1]], single[0])


RECURRENT: dict[str, Any] = {"size": 5, "layers": 2}
ENCODERS: dict[str, Any] = {
    "recurrent": RECURRENT,
    "cnn": {"kind": "cnn", "size": 3, "widths": [1, 2, 5]},
    "none": "none",
    "forward": {"cell": "gru", "size": 5, "bidirectional": False, "initial_state": "learned"},
}
CHARACTERS = {"kind": "character-cnn", "filters": 3, "max_kernel": 3, "max_length": 5, "highways": 2}
EVERY_CLASSIFIER = pytest.mark.parametrize(
    ("encoder", "pooling"), [*product(ENCODERS, ["mean", "max", "last", "attention"])]
)
EVERY_TAGGER = pytest.mark.parametrize(
    ("output", "characters"), [*product(["softmax", "sigmoid", "crf"], ["none", CHARACTERS])], ids=str
)
VECTORS: Any = {"size": 3, "mean": [0.5, -1.0, 2.0], "deviation": [2.0, 0.5, 1.0]}


def values(flags: int = 0) -> Values:
    numbers = np.random.default_rng(3).normal(size=(len(LENGTHS), max(LENGTHS), 3 + flags)).astype(np.float32)
    numbers[..., 3:] = numbers[..., 3:] > 0
    return Values(numbers, np.array(LENGTHS))


def assert_predicts(model: Any, given: Batch) -> None:
    native = opened(model)
    found, wanted = native.predict(given), model.predict(given)
    blocks = [one for one in vars(found).values()]
    assert_near(blocks, vars(wanted).values())
    for row in range(given.size):
        alone = native.predict(rows_of(given, slice(row, row + 1)))
        for one, other in zip(blocks, vars(alone).values(), strict=True):
            np.testing.assert_array_equal(one[row, : np.shape(other)[1]] if np.ndim(other) > 1 else one[row], other[0])


def of_tokens_and_vectors(task: str, tables: dict[str, Any], tokens: Ids) -> list[tuple[Any, Batch]]:
    """A network of tokens and one of vectors, each with what it reads."""
    vectors = tables | {"model": "vectors", "vectors": VECTORS}
    return [(made(task, own), Batch.of_rows(range(4), read)) for own, read in ((tables, tokens), (vectors, values()))]


def classifiers(encoder: str, pooling: str) -> list[tuple[Any, Batch]]:
    output = "sigmoid" if pooling in ("max", "attention") else "softmax"
    classes = {"names": ["a", "b", "c"], "pooling": pooling, "output": output}
    embedding = {"size": 4, "scaled": True} if output == "sigmoid" else {"kind": "character-cnn", "filters": 3}
    tables = {"classes": classes, "encoder": ENCODERS[encoder], "embedding": embedding}
    return of_tokens_and_vectors("classify", tables, rows(*LENGTHS))


@EVERY_CLASSIFIER
def test_a_classifier(encoder: str, pooling: str) -> None:
    for model, given in classifiers(encoder, pooling):
        assert_predicts(model, given)


def taggers(output: str, characters: Any) -> list[tuple[Any, Batch]]:
    tables = {"encoder": RECURRENT, "output": output, "spans": "iob2" if output == "crf" else "none"}
    numbers, ids = np.random.default_rng(1), rows(*LENGTHS)
    letters = pad([list(numbers.integers(0, SYMBOLS.size, length)) for length in (3, 6, 1, 4, 2)])
    words = numbers.integers(0, 5, ids.ids_BT.shape)
    spelt = SpeltIds(ids.ids_BT, ids.lengths_B, words, letters.ids_BT, letters.lengths_B)
    return of_tokens_and_vectors("tag", tables | {"embedding": {"size": 4}, "characters": characters}, spelt)


@EVERY_TAGGER
def test_a_tagger(output: str, characters: Any) -> None:
    for model, given in taggers(output, characters):
        assert_predicts(model, given)


EVERY_NETWORK_OF_VALUES = pytest.mark.parametrize(
    ("kind", "output", "size"),
    [*product(["prediction", "synthesis"], [{"kind": "mixture", "components": 3}, {"kind": "squared-error"}], [2, 3])],
    ids=str,
)


@EVERY_NETWORK_OF_VALUES
def test_a_network_of_values(kind: str, output: dict[str, Any], size: int) -> None:
    pen, model = int(size == 2), made_of_values(kind, output, size)
    native, targets = opened(model), values(1)
    read = Values(targets.values_BTD[..., : size + pen], targets.lengths_B)
    batch = Batch.of_rows(range(4), rows(*LENGTHS) if kind == "synthesis" else read, targets)
    found, wanted = native.predict(batch), model.predict(batch)
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert_near([one], [other])
    numbers = np.random.default_rng(4)
    draws = [numbers.random(shape) for shape in ((4,), (4, size), (4, pen + 1))]
    vectors = numbers.normal(size=(4, size + pen)).astype(np.float32)
    states, after = model.advance(model.start(batch), vectors)
    own, own_after = native.advance(native.start(batch), vectors)
    assert_near([own], [states])
    assert_near(own_after.state.values(), [after.state[name] for name in own_after.state])
    with torch.no_grad():
        wanted = model.output.draw(states, Draws(*draws), 0.3)
    together = native.output.draw(own, draws, 0.3)
    assert_near([together], [wanted])
    for row in range(4):
        one = slice(row, row + 1)
        alone, length = rows_of(batch, one), int(targets.lengths_B[row])
        for block, single in zip(found, native.predict(alone), strict=True):
            assert block is None or (block[row, :length] == single[0, :length]).all()
        states, *_ = native.advance(native.start(alone), vectors[one])
        np.testing.assert_array_equal(native.output.draw(states, [draw[one] for draw in draws], 0.3), together[one])


RUNS = sorted(path.parent for path in (Path(__file__).parents[1] / "runs").glob("**/experiment.toml"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.parent.name} {run.name}")
def test_a_stored_run(run: Path) -> None:
    trained = load_trained(run)
    model, size = trained.model, min(one.symbols.size for one in trained.tokenizers.values())
    if run.name == "aligner":
        sides = [Ragged.of(read_ids(4, size).tolist()) for _ in range(2)]
        assert [*opened(model).align_each(*sides)] == [*model.align_each(*sides)]
        return
    given = Batch.of_rows(range(2), rows(3, 5, size=size))
    assert_stepper(opened(model), model, given, read_ids(4, size))


SOFTMAX_RECIPES = [
    name
    for name in recipes.names()
    if not name.endswith(("ngram", "aligner", "upos")) and name not in ("strokes", "trec", "sst-bilstm", "sst-fine")
]


@pytest.mark.matrix
@pytest.mark.parametrize("name", SOFTMAX_RECIPES)
def test_a_recipe(name: str) -> None:
    experiment = read_experiment(recipes.read(name), name)
    model = drawn(build(experiment.task, experiment.tables(), SIDES, name, WORDS))
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 0.1
    given = texts()
    if experiment.task == "describe":
        given = Batch.of_rows(range(4), Grid(np.ones((4, 16, experiment.encoder.width), np.float32)))
    assert_stepper(opened(model), model, given, read_ids(8))


def test_a_description_of_another_form_is_refused() -> None:
    with pytest.raises(DamagedError, match="another form"):
        open_network({"kind": "oracle"}, {})
    with pytest.raises(DamagedError, match=r"tensor source_embedding\.weight"):
        open_network(describe(untrained_translator("luong").model), {})


@IN_C
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("candidates", [None, pad([list(range(3, 33)), [3, 5, 6, 9], list(range(3, 20)), [3, 4, 8]])])
def test_searches_in_c(candidates: Ids | None, beam: int) -> None:
    asked: dict[str, Any] = {"beam": beam, "n": beam, "max_length": 12}
    narrow = Constraints(candidates=candidates, narrow=candidates is not None)
    given = Batch.of_rows(range(4), rows(*LENGTHS), constraints=narrow)
    for model in made("translate", merged({})), made("language-model", STREAM):
        stepper = opened(model).stepper()
        assert is_compiled(stepper, given, **asked)
        found, expected = (search(one, given, SearchRequest(**asked)) for one in (stepper, Stepwise(stepper)))
        assert found == expected
    for unlike in ({"attention": {"normalizer": "sigmoid"}}, {"output": {"kind": "hierarchical"}}):
        assert not is_compiled(opened(made("translate", merged(unlike))).stepper(), texts(), **asked)
