"""The page reads, computes and writes what the package does, whatever the tokens and the options of the model."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.batch import Batch, pad
from anaphora.errors import ConfigError
from anaphora.inspection.microscope import SCRIPTS, page_of, write_microscope
from anaphora.inspection.microscope.contents import tokens_of
from anaphora.inspection.subject import Recorder
from anaphora.kernels.cells import AnyCell
from anaphora.kernels.runtime import current, running
from anaphora.search.ranking import LengthModel
from anaphora.tasks.registry import task_of
from anaphora.tasks.runs import load_trained
from anaphora.tasks.task import TrainedModel
from anaphora.tasks.translation.constraints import max_length
from anaphora.text.rare_word_annotation import AnnotatedTokenizer
from anaphora.text.words import WordTokenizer
from tests import networks
from tests.batches import pair_batch
from tests.inference.test_networks import LANGUAGE_MODELS, drawn, made, merged
from tests.networks import MORE_TRANSLATORS, NEW_GRU, SENTENCES, SMALL, TRANSLATORS, untrained_translator
from tests.searches import beam

node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
TOKENIZERS = ("bpe", "unigram", "word joiner", "word moses", "word whitespace", "character", "symbol", "byte")
RUN = Path(__file__).parents[1] / "runs" / "format-2"
DRIVER = Path(__file__).with_name("driver.js").read_text(encoding="utf-8")
"""Node's part: what the scripts of a page answer."""


def network_in(page: str) -> Any:
    return json.loads(page.split('id="network">')[1].split("</script>")[0])


def printed_by(folder: Path, *scripts: str) -> Any:
    (folder / "asked.js").write_text("\n".join(scripts))
    answer = subprocess.run(["node", "asked.js"], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(answer.stdout)


def own_scripts(*names: str) -> list[str]:
    return [(files("anaphora.inspection.microscope") / name).read_text(encoding="utf-8") for name in names]


def computed(page: str, folder: Path, sentences: list[str], first: str = "", **search: Any) -> list[dict[str, Any]]:
    """What the scripts of a page answer, after a line that is ``first``; the steps are those of ``forced`` tokens."""
    chunks = [part.split("</script>")[0] for part in page.split('class="weights">')[1:]]
    asked = {"chunks": chunks, "sentences": sentences, "size": 1, "penalty": 0, "lengths": (), "forced": ()}
    (folder / "asked.json").write_text(json.dumps(network_in(page) | asked | search))
    found: list[dict[str, Any]] = printed_by(
        folder, first, *own_scripts(*(name for name in SCRIPTS if name != "page.js")), DRIVER
    )
    return found


def rounded(trained: TrainedModel) -> Any:
    """The model with the weights that a page has."""
    return trained.model.half().float()


def translator(name: str) -> TrainedModel:
    """A translator of ``MORE_TRANSLATORS``."""
    tables = merged(MORE_TRANSLATORS[name])
    if tables["encoder"].get("kind", "") in ("convolution", "ngram-convolution"):
        del tables["encoder"]["size"]
    if name == "deep fusion":  # an experiment needs a trained run
        trained = untrained_translator("luong")
        sides = dict.fromkeys(("source", "target", "text"), trained.tokenizers["source"].symbols)
        return trained._replace(model=drawn(networks.build("translate", tables, sides)))
    return networks.untrained_writer({"task": "translate", **tables})


REFUSED = ("hard-monotonic", "hard", "copies")
"""Those of ``MORE_TRANSLATORS`` that a page does not compute."""


def language_model(kind: str = "character", model: str = "recurrent", **tables: Any) -> TrainedModel:
    return networks.untrained_writer({"task": "language-model", "model": model, **tables}, kind)


def recurrent(**recurrence: Any) -> TrainedModel:
    return language_model(embedding=SMALL, recurrence={"size": 8, "layers": 2, **recurrence})


NETWORKS: dict[str, Callable[[], TrainedModel]] = {
    **{name: partial(untrained_translator, name) for name in TRANSLATORS},
    **{name: partial(translator, name) for name in MORE_TRANSLATORS if name not in REFUSED},
    **{f"of {kind} tokens": partial(untrained_translator, "luong", kind) for kind in TOKENIZERS},
    **{
        f"language model {name}": partial(
            language_model, "word joiner" if name == "characters" else "character", model, **tables
        )
        for name, (model, tables) in LANGUAGE_MODELS.items()
    },
    **{f"units {cell}": partial(recurrent, cell=cell) for cell in networks.members(AnyCell)},
    "units normalised": partial(recurrent, cell=NEW_GRU, layer_norm=True, residual=True, initial_state="learned"),
    "units full peephole": partial(recurrent, cell={"kind": "peephole", "peephole": "full"}),
}
"""All that a page computes, by name."""


@pytest.mark.matrix
@node
@pytest.mark.parametrize("name", NETWORKS)
def test_a_page_computes_each_step_as_the_package_does(tmp_path: Path, name: str) -> None:
    trained = NETWORKS[name]()
    page, model = page_of(trained, "A page"), rounded(trained)
    stepper, sentences = model.stepper(), SENTENCES[:2]
    forced = [stepper.bos, *np.random.default_rng(1).integers(4, model.symbols.size, 5).tolist()]
    for sentence, answer in zip(sentences, computed(page, tmp_path, sentences, forced=forced), strict=True):
        tokenizer = trained.tokenizers.get("source") or trained.tokenizers["text"]
        assert answer["ids"] == tokenizer.encode(sentence)
        read = [*answer["ids"], tokenizer.symbols.eos] if "source" in trained.tokenizers else [0]
        start = stepper.start(Batch(pad([read]), None, np.array([0]), np.array([False])))
        state, inside = start.state, inside_of(model, forced) if name.startswith("units") else {}
        for place, (token, found) in enumerate(zip(forced, answer["steps"], strict=True)):
            for gate, values in inside.items():
                np.testing.assert_allclose(dict(found["gates"])[gate], values[place, 0], atol=1e-5)
            assert not inside or all(len(gate.split(".")[1]) == 1 for gate, _ in found["gates"])
            step = stepper.advance(start.memory, state, np.array([token]))
            state = step.state
            np.testing.assert_allclose(np.array(found["log_probs"], float), _finite(step.log_probs_NV)[0], 1e-4, 1e-4)
            if step.weights_NS is not None:
                np.testing.assert_allclose(found["weights"], step.weights_NS[0], atol=1e-5)


def _finite(log_probs: Any) -> Any:
    return np.where(np.isinf(log_probs), np.nan, log_probs)


def inside_of(model: Any, forced: list[int]) -> Mapping[str, Any]:
    """Return what the units of a language model compute between reading and writing."""
    recorder = Recorder()
    with running(replace(current(), observer=recorder)):
        model.target_log_probs(Batch.of_rows([0], pad([forced]), pad([forced])))
    return recorder.seen[-1].inside


@pytest.mark.matrix
@node
@pytest.mark.parametrize("name", ["luong", "bahdanau", "conditional", "sutskever"])
@pytest.mark.parametrize(("kind", "lengths"), [("bpe", (1.3, 0.5)), ("word moses", ())])
def test_a_page_translates_as_the_package_does(tmp_path: Path, name: str, kind: str, lengths: Sequence[float]) -> None:
    trained = untrained_translator(name, kind)
    answers = computed(page_of(trained, "A page"), tmp_path, SENTENCES, size=3, penalty=0.6, lengths=lengths)
    rounded(trained)
    options: dict[str, Any] = {"length_penalty": 0.6, "attention": True, "protect": ()}
    options["length_model"] = LengthModel(*lengths) if lengths else None
    expected = task_of(trained.experiment).predictor(trained).translate(SENTENCES, beam=3, **options)
    for answer, translation in zip(answers, expected, strict=True):
        assert answer["text"] == translation.text
        assert answer["score"] == pytest.approx(translation.score, abs=1e-3)
        if translation.weights is not None:
            np.testing.assert_allclose(answer["weights"], translation.weights, atol=1e-4, rtol=1e-3)
    assert max_length(3) == 19  # the limit that the page states again


@node
def test_a_page_continues_a_text_as_the_package_does(tmp_path: Path) -> None:
    trained = recurrent(cell="lstm", initial_state="learned")
    answers = computed(page_of(trained, "A page"), tmp_path, SENTENCES, size=2)
    model = rounded(trained)
    stepper = model.stepper()
    for sentence, answer in zip(SENTENCES, answers, strict=True):
        ids = trained.tokenizers["text"].encode(sentence)
        batch = pair_batch([[0]], prefixes=[ids])
        [[best, *_]] = beam(stepper, batch, beam=2, max_length=len(ids) + 20, banned_tokens=model.symbols.unwritten)
        assert (answer["found"], answer["score"]) == (list(best.ids), pytest.approx(best.score, abs=1e-3))


@node
@pytest.mark.parametrize("first", ["", "globalThis.WebAssembly = undefined;"])
def test_the_page_of_a_trained_run_translates_as_the_run_does(tmp_path: Path, first: str) -> None:
    stored = json.loads((RUN / "translations.json").read_text())
    sentences = [one["source"] for one in stored if one["source"]]
    answers = computed(page_of(load_trained(RUN), "A page"), tmp_path, sentences, first, size=2, penalty=0.5)
    assert [answer["text"] for answer in answers] == [one["text"] for one in stored if one["source"]]


def test_what_is_written_into_a_page_cannot_end_its_data() -> None:
    page = page_of(untrained_translator("luong", "character"), "A </title><script>", ["</script><b>&"])
    assert network_in(page)["examples"] == ["</script><b>&"]
    assert page.count("</title>") == 1
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/", "")  # names of SVG and MathML


def records(count: int) -> str:
    pair = {"source": ["a" * 60, "</s>"], "target": ["b", "</s>"], "weights": [[1.0, 0.0], [0.25, 0.75]]}
    lines = ({"update": n, **line} for n in range(1, count + 1) for line in ({"loss": 1.0}, {"alignments": [pair]}))
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize(("count", "kept"), [(0, 0), (60, 60), (61, 31)])
def test_a_page_has_what_training_recorded_the_last_among_them(tmp_path: Path, count: int, kept: int) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").write_text(records(count))
    write_microscope(tmp_path / "run", tmp_path / "page.html")
    found = network_in((tmp_path / "page.html").read_text())["records"]
    assert len(found) == kept and [one["update"] for one in found][-1:] == [count][:kept]
    assert all(one["pairs"][0]["weights"][1] == [0.25, 0.75] for one in found)


def test_a_page_begins_with_the_shortest_sentences_of_the_validation_split(tmp_path: Path) -> None:
    run, corpus = tmp_path / "run", tmp_path / "corpus"
    shutil.copytree(RUN, run)
    experiment = (run / "experiment.toml").read_text()
    (run / "experiment.toml").write_text(experiment.replace('"corpus",', f"{json.dumps(str(corpus))},"))
    write_microscope(run, tmp_path / "page.html")
    assert network_in((tmp_path / "page.html").read_text())["examples"] == []
    corpus.mkdir()
    lines = ["Yes.", "", "He sees a very old cat.", "She is here again today.", "A man is on the table.", "Word " * 30]
    for split, side in product(("train", "val"), ("en", "fr")):
        (corpus / f"{split}.{side}").write_text("\n".join(lines) + "\n")
    write_microscope(run, tmp_path / "page.html")
    assert network_in((tmp_path / "page.html").read_text())["examples"] == [lines[4], lines[2], lines[3]]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: made("classify", {"classes": {"names": ["a", "b"]}}), "classifier"),
        (lambda: made("tag", {}), "tagger"),
        (lambda: made("language-model", {"model": "ngram"}), "ngram"),
        (lambda: made("describe", {"encoder": {"width": 4, "rows": 2, "columns": 3}}), "reads vectors"),
        *((lambda name=name: translator(name).model, "hard-monotonic.*pointer-generator") for name in REFUSED),
    ],
)
def test_a_network_that_the_page_does_not_compute_is_refused_by_name(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(ConfigError, match=f"microscope shows .* but not .*{named}"):
        page_of(untrained_translator("luong")._replace(model=make()), "A page")


def test_a_model_too_large_for_a_page_is_refused_with_its_size() -> None:
    table = {"task": "translate", "encoder": {"size": 1024}, "decoder": {"size": 1024}}
    with pytest.raises(ConfigError, match=r"a page of \d+ MB, but a page should have at most 25 MB"):
        page_of(networks.untrained_writer(table), "A page")


@node
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_page_reads_any_text_and_writes_any_ids_as_the_package_does(tmp_path: Path, kind: str) -> None:
    trained, draws = untrained_translator("luong", kind), random.Random(1)
    tokenizer = trained.tokenizers["source"]  # that of the target as well
    last = tokenizer.symbols.size - 1
    texts = ["".join(draws.choices("aetB1.,'- \u2581\u00ad\u00e9", k=draws.randint(0, 12))) for _ in range(1_000)]
    lists = [[draws.randint(0, draws.choice([9, last])) for _ in range(draws.randint(0, 9))] for _ in range(2_000)]
    table = network_in(page_of(trained, "A page"))["tokenizers"]["source"]
    asked = f"""const tokens = new Tokens({json.dumps(table)});
const read = {json.dumps(texts)}.map((text) => tokens.encode(text));
const written = {json.dumps(lists)}.map((ids) => tokens.decode(ids));
console.log(JSON.stringify([read, written]));"""
    read, written = printed_by(tmp_path, *own_scripts("moses.js", "tokens.js"), asked)
    assert read == [tokenizer.encode(text) for text in texts]
    assert written == [tokenizer.decode(ids) for ids in lists]


@pytest.mark.parametrize("language", ["cs", "ja"])
def test_words_that_the_page_does_not_read_are_refused_by_name(language: str) -> None:
    words = WordTokenizer(["a"], lowercase=False, segmentation="moses", language=language)
    for tokenizer, named in ((words, f'language "{language}"'), (AnnotatedTokenizer(words, "posall", {}), "text.rare")):
        with pytest.raises(ConfigError, match=f"microscope shows .* but not .*{named}"):
            tokens_of(tokenizer, "word")
