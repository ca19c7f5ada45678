"""One file in place of a run folder: the same predictions to the byte, and any damage is one sentence."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import anaphora
from anaphora import files
from anaphora.errors import AnaphoraError, ConfigError, RunError
from anaphora.inference.matrices import matrices_of
from anaphora.kernels.compiled.gemm import has_gemm
from anaphora.run import Run
from anaphora.run.bundle import Bundle, BundlePrecision, write
from anaphora.run.weights import kinds_of, parse
from anaphora.tasks.runs import export_bundle, inference_of
from tests.faults.damage import KINDS, Damage
from tests.faults.tasks import SAMPLES
from tests.sealing import safetensors_bytes
from tests.tasks.conftest import shown

pytestmark = pytest.mark.skipif(not has_gemm(), reason="the library in C is not built for this processor")

RUNS = Path(__file__).parent / "runs"
NETWORKS = {
    "translator": "format-2",
    "deep translator": "halfway-2/dropout",
    "translator of characters": "halfway-2/moving-average",
    "language model": "kinds-2/language-model",
    "language model of spellings": "halfway-2/sentences",
    "feed-forward language model": "halfway-2/window",
    "n-grams": "kinds-2/counts",
    "interpolation": "kinds-2/mixture",
}
TEXTS = ["a man walks .", "two dogs run in the house .", "unheard-of Ωords"]
PRECISIONS: tuple[BundlePrecision, ...] = ("fp32", "bf16", "int8")


TRAINED = {"tagger": "tag", "classifier": "classify", "pen strokes": "trace"}  # samples, of kinds without a stored run


def answers(model: Any) -> list[Any]:
    """All that two predictors of one network must have in common."""
    if hasattr(model, "generate") and not hasattr(model, "score_lines"):
        return [str(model.generate(length=3, seed=1))]
    if hasattr(model, "predict"):
        return [one.json() for one in model.predict(TEXTS)]
    if hasattr(model, "translate"):
        found = model.translate(TEXTS, beam=3, attention=model.attends)
        return [(one.text, one.score, one.weights is not None and one.weights.tobytes()) for one in found]
    return [*vars(model.score_lines(TEXTS)[0]).items(), model.generate("a", length=5, seed=1).text]


Made = Callable[[str, BundlePrecision], tuple[Path, Path]]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A copy of a stored run and its bundle, by kind and precision."""
    folder = tmp_path_factory.mktemp("bundles")

    def made(kind: str, precision: BundlePrecision) -> tuple[Path, Path]:
        run, bundle = folder / kind, folder / f"{kind}-{precision}.anaphora"
        if not run.exists() and kind in TRAINED:
            sample, home = next(one for one in SAMPLES if one.name == TRAINED[kind]), folder / TRAINED[kind]
            sample.write(home)
            with pytest.MonkeyPatch.context() as place:
                place.chdir(home)
                shown(*sample.training())
            (home / "run").rename(run)
        elif not run.exists():
            shutil.copytree(RUNS / NETWORKS[kind], run)  # which may have been used, and written to, before
        if not bundle.exists():
            export_bundle(run, bundle, precision)
        return run, bundle

    return made


@pytest.fixture
def bundle(bundles: Made, tmp_path: Path) -> Path:
    """A bundle that may be changed."""
    return Path(shutil.copy(bundles("language model", "int8")[1], tmp_path / "model.anaphora"))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", [*NETWORKS, *TRAINED])
def test_a_bundle_predicts_as_its_run_in_its_precision(bundles: Made, kind: str, precision: BundlePrecision) -> None:
    run, bundle = bundles(kind, precision)
    assert answers(anaphora.load(bundle)) == answers(anaphora.load(run, precision=precision))


@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_matrices_of_products_are_stored_as_products_read_them(bundles: Made, precision: BundlePrecision) -> None:
    run, bundle = bundles("translator", precision)
    stored, own = parse(bytearray(bundle.read_bytes()), bundle), Run.open(run).load().model
    matrices = matrices_of(inference_of(Run.open(run)).network or {}) & own.keys()
    assert {"source_embedding.weight", "output.weight", "decoder.weights.layer0.h"} <= matrices
    for name, array in own.items():
        found = stored[f"weights/{name}"]
        assert found.shape == array.shape
        assert found.dtype.itemsize == ({"bf16": 2, "int8": 1}[precision] if name in matrices else 4)
    before = [array.tobytes() for name, array in own.items() if name not in matrices]
    assert before == [stored[f"weights/{name}"].tobytes() for name in own if name not in matrices]


def test_bf16_is_rounded_to_the_nearest_number_and_halfway_to_the_even_one(bundles: Made, tmp_path: Path) -> None:
    numbers, wanted = zip(
        *((1 + 2**-8, 1), (1 + 3 * 2**-8, 1 + 2**-6), (-1 - 2**-8, -1), (1 + 2**-8 + 2**-23, 1 + 2**-7), (2**-134, 0)),
        strict=True,
    )
    run, name = Run.open(bundles("translator", "bf16")[0]), "output.weight"
    checkpoint = run.load()
    shape = checkpoint.model[name].shape
    weights = {**checkpoint.model, name: np.resize(np.array(numbers, np.float32), shape)}
    write(tmp_path / "a.anaphora", run, inference_of(run), replace(checkpoint, model=weights), "bf16")
    assert np.array_equal(Bundle.open(tmp_path / "a.anaphora").weights()[name], np.resize(wanted, shape))


def test_a_file_of_the_run_that_predictions_need_is_in_it_and_no_other(bundle: Path) -> None:
    names = {name.removeprefix("files/") for name in parse(bytearray(bundle.read_bytes()), bundle) if "files/" in name}
    needed = {"inference.json", "vocabulary/text"}
    assert needed <= names <= needed | {"vocabulary/vocabulary.json", "card.md"}


@given(damage=st.builds(Damage, st.sampled_from(KINDS), st.floats(0, 1, exclude_max=True), st.integers(0, 7)))
def test_a_bundle_that_was_changed_is_refused_in_a_sentence(
    bundles: Made, tmp_path_factory: pytest.TempPathFactory, damage: Damage
) -> None:
    content = bundles("language model", "int8")[1].read_bytes()
    changed = damage(content)
    path = tmp_path_factory.mktemp("changed") / "model.anaphora"
    path.write_bytes(changed)
    if changed == content:
        return
    with pytest.raises(AnaphoraError) as caught:
        Bundle.open(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "saying"),
    [
        (b"", "cannot be read"),
        (b"{}", "is no bundle"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "is no bundle, or cut"),
        ((1 << 23).to_bytes(8, "little") + bytes(1 << 23), "its header is no JSON"),
        (b"PK\3\4" + bytes(100), "is no bundle"),
        (safetensors_bytes({}), "it has weights alone"),
        (safetensors_bytes({"__metadata__": {"anaphora": "[]"}}), "JSON object"),
        (safetensors_bytes({"__metadata__": {"anaphora": '{"format": 1}'}}), "does not describe a bundle"),
        (safetensors_bytes({"__metadata__": {"anaphora": '{"format": 2}'}}), "reads up to 1: upgrade"),
        (safetensors_bytes({"__metadata__": {"anaphora": "[" * 10**5}}), "is not JSON"),
    ],
)
def test_what_is_no_bundle_is_refused_before_it_is_read(tmp_path: Path, content: bytes, saying: str) -> None:
    path = tmp_path / "model.anaphora"
    path.write_bytes(content)
    with pytest.raises(RunError, match=saying):
        anaphora.load(path)


def resealed(bundle: Path, change: "Change") -> None:
    """Change the tensors of a bundle, and let its checksum fit."""
    header = json.loads(bundle.read_bytes()[8:].split(b'"},')[0] + b'"}}')["__metadata__"]
    tensors: dict[str, Any] = load_file(bundle)
    change(tensors)
    save_file(tensors, bundle, header)
    from anaphora.run import bundle as module

    found, data = module._header(bundle.read_bytes(), bundle)
    contents = module._contents(found, bundle)
    table = contents.with_options({"sha256": module._digest(found, contents, data)})
    save_file(tensors, bundle, {"anaphora": json.dumps(vars(table))})


Change = Callable[[dict[str, Any]], object]


def put(name: str, array: Any) -> Change:
    """Return the change that replaces a tensor by an array, or by bytes."""
    return lambda tensors: tensors.update({name: np.frombuffer(array, np.uint8) if isinstance(array, bytes) else array})


CHANGES: dict[str, tuple[Change, str]] = {
    "no network": (lambda tensors: tensors.pop("files/inference.json"), "has no network"),
    "another network": (put("files/inference.json", b'{"format": 1}'), "changed after it was written"),
    "a later network": (put("files/inference.json", b'{"format": 9}'), "has format 9, but .* up to 1: upgrade"),
    "no vocabulary": (lambda tensors: tensors.pop("files/vocabulary/text"), "is missing"),
    "no weight": (lambda tensors: tensors.pop("weights/output.bias"), "has no tensor output.bias"),
    "one more": (put("weights/x", np.zeros(1)), "has a tensor 'x'"),
    "another shape": (put("weights/output.bias", np.zeros(3, np.float32)), "should be 107 float32, but is 3 float32"),
    "an overflow": (lambda tensors: tensors["largest/output.weight"].fill(1e30), "not finite or above"),
    "other rows": (
        put("largest/output.weight", np.ones(3, np.float32)),
        "no matrix in int8 under the name output.weight",
    ),
}


def described(change: Change) -> Change:
    """Change the description of the network in a bundle, and seal it again."""

    def changed(tensors: dict[str, Any]) -> None:
        table = json.loads(tensors["files/inference.json"].tobytes())
        change(table["network"])
        content = files.json_bytes(files.seal(table))
        tensors["files/inference.json"] = np.frombuffer(content, np.uint8)

    return changed


def doubled(network: dict[str, Any]) -> None:
    """Let vectors become twice as wide, again and again."""
    graph = network["embedding"]
    for n in range(60):
        last = graph["outputs"]["x"]
        graph["operations"].append(["join", [last, last], {}, [f"x{n}"]])
        graph["outputs"]["x"] = f"x{n}"


HOSTILE: dict[str, Change] = {
    "an unknown operation": lambda network: network["embedding"]["operations"][0].__setitem__(0, "system"),
    "a hidden operation": lambda network: network["embedding"]["operations"][0].__setitem__(0, "__init__"),
    "an absurd size": lambda network: network["recurrence"].__setitem__("size", 1 << 60),
    "an absurd factor": lambda network: network["embedding"]["operations"][0][2].__setitem__("scale", 1e300),
    "a negative size": lambda network: network["recurrence"].__setitem__("size", -1),
    "a width that grows": doubled,
    "a signal that is not there": lambda network: network["embedding"]["operations"][0].__setitem__(1, ["y"]),
    "another vocabulary": lambda network: network["symbols"].__setitem__(0, 5),
    "a mark beyond the vocabulary": lambda network: network["symbols"].__setitem__(3, 10**5),
    "the weight of another layer": lambda network: network["output"].__setitem__("weight", "output.bias"),
    "a part without a class": lambda network: network["recurrence"]["program"]["parts"][0].__setitem__("part", "eval"),
    "parts in a circle": lambda network: network["recurrence"]["program"]["parts"].reverse(),
}
CHANGES |= {how: (described(change), r"\.$") for how, change in HOSTILE.items()}


@pytest.mark.parametrize("how", CHANGES)
def test_a_bundle_of_other_content_under_a_checksum_that_fits_is_refused(bundle: Path, how: str) -> None:
    change, saying = CHANGES[how]
    resealed(bundle, change)
    with pytest.raises(RunError, match=saying) as refused:
        anaphora.load(bundle)
    assert refused.value.exit_code == 2 and "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", ["language model", "translator", *TRAINED])
@given(draws=st.data())
def test_a_mutation_under_a_seal_that_fits_is_refused_or_computes(
    bundles: Made, tmp_path_factory: pytest.TempPathFactory, kind: str, draws: st.DataObject
) -> None:
    path = Path(shutil.copy(bundles(kind, "fp32")[1], tmp_path_factory.mktemp("mutated") / "model.anaphora"))

    def mutate(tensors: dict[str, Any]) -> None:
        name = draws.draw(st.sampled_from(sorted(name for name in tensors if name.startswith("weights/"))))
        array, change = tensors[name], draws.draw(st.sampled_from(SHAPES))
        tensors[name] = np.ascontiguousarray(change(array))
        table = json.loads(tensors["files/inference.json"].tobytes())
        table["tensors"][name.removeprefix("weights/")] = kinds_of({"": tensors[name]})[""]
        if draws.draw(st.booleans()):
            places = list(places_in(table["network"]))
            parent, key = draws.draw(st.sampled_from(places))
            others = [one[at] for one, at in places]
            parent[key] = deepcopy(draws.draw(st.sampled_from(others) | st.sampled_from(ODD)))
        tensors["files/inference.json"] = np.frombuffer(files.json_bytes(files.seal(table)), np.uint8)

    resealed(path, mutate)
    with suppress(AnaphoraError):
        answers(anaphora.load(path))


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda array: array,
    lambda array: array[:1],
    lambda array: array[..., :1],
    lambda array: array.T,
    lambda array: np.concatenate([array, array]),
    lambda array: array.astype(np.int8),
    lambda array: array[:0],
)
ODD: tuple[Any, ...] = (0, -1, 1 << 16, 1 << 62, 1e300, None, "x", "_weights", [], {})


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a description, as a container and what it is known by there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places_in(value[key])


def test_what_a_bundle_cannot_do_is_said(bundle: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has weights in int8"):
        anaphora.load(bundle, precision="bf16")
    with pytest.raises(ConfigError, match="no other initial state"):
        anaphora.load(bundle, initial_state={})
    with pytest.raises(RunError, match="nothing is there"):
        anaphora.load(tmp_path / "other.anaphora")
    with pytest.raises(ConfigError, match=r"should end in \.anaphora"):
        export_bundle(RUNS / "format-2", tmp_path / "model.bin")
    for verb, said in {
        "average": "is a bundle, which is for predictions alone: give a run folder",
        "align": "should be an aligner or a translator, but is a language model",
    }.items():
        assert said in shown(verb, bundle, code=2).err
