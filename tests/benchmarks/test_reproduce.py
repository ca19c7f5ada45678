"""Systems compared like for like: what is trained, that nothing is trained twice, and what the tables say."""

import json
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from anaphora.data.catalogue import CORPORA
from anaphora.errors import ConfigError
from anaphora.events import silent
from anaphora.formats.lines import write_lines
from anaphora.inspection.programs import network_of
from anaphora.samples.english_french import corpus
from benchmarks.reproduce import page, queue, table
from benchmarks.reproduce.queue import Result
from benchmarks.reproduce.table import Finding, System, Table
from benchmarks.reproduce.texts import Text


def small(folder: Path, **changes: object) -> Table:
    """Two language models of a few numbers on a few lines."""
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text("a b c d a b c d\n" * 30, encoding="utf-8")
    settings = (f'data.files=["{folder}"]', "training.epochs=1", "recurrence.size=8", "embedding.size=8")
    systems = (
        System(name="gru", recipe="character-lm", settings=("recurrence.cell=gru",)),
        System(name="elman", recipe="character-lm", settings=("recurrence.cell=elman",)),
    )
    return Table(title="Units", seeds=(1, 2), settings=settings, systems=systems).model_copy(update=changes)


def test_what_has_a_result_is_not_trained_again_and_what_was_stopped_is_gone_on_with(tmp_path: Path) -> None:
    one, said = small(tmp_path), list[str]()
    assert len({job.key for job in table.jobs(one)}) == 4
    work_off = partial(queue.work_off, "units", one, "a machine", said.append, silent, runs=tmp_path / "runs")
    work_off, asked = partial(work_off, results=tmp_path / "results"), count()
    assert len(work_off(stop=lambda: next(asked) >= 3)) < 4 and len(list((tmp_path / "runs").iterdir())) == 1
    assert len(work_off()) == 4 and len(queue.left(one, queue.results_of(tmp_path / "results" / "units.jsonl"))) == 0
    begun = len(said)
    assert len(work_off()) == 4 and len(said) == begun
    assert not list((tmp_path / "runs").iterdir())
    lines = [json.loads(line) for line in (tmp_path / "results" / "units.jsonl").read_text().splitlines()]
    assert [(line["system"], line["seed"]) for line in lines] == [("gru", 1), ("elman", 1), ("gru", 2), ("elman", 2)]
    assert all(line["figures"]["perplexity"] > 1 and line["figures"]["updates"] > 0 for line in lines)


def test_a_system_has_as_many_numbers_as_the_one_that_it_is_like(tmp_path: Path) -> None:
    one = small(tmp_path, seeds=(1,))
    wide = System(name="ssru", recipe="character-lm", settings=("recurrence.cell=ssru",), like="gru")
    one = one.model_copy(update={"systems": (*one.systems, wide), "settings": (*one.settings, "recurrence.size=64")})
    found: dict[str, Any] = {job.system.name: job.experiment for job in table.jobs(one)}
    sizes = {name: experiment.recurrence.size for name, experiment in found.items()}
    networks: dict[str, Any] = {name: network_of(experiment) for name, experiment in found.items()}
    numbers = {name: sum(weight.numel() for weight in network.parameters()) for name, network in networks.items()}
    assert sizes["ssru"] > sizes["gru"] == 64
    assert 0.95 * numbers["gru"] < numbers["ssru"] <= numbers["gru"]


def test_a_training_that_diverges_is_written_down_and_the_others_go_on(tmp_path: Path) -> None:
    one = small(tmp_path, seeds=(1,))
    hopeless = "training.optimizer={kind='sgd',learning_rate=1e300} training.divergence_retries=0 training.skip_limit=1"
    wild = one.systems[0].model_copy(update={"settings": tuple(hopeless.split())})
    one = one.model_copy(update={"systems": (wild, one.systems[1])})
    said: list[str] = []
    found = queue.work_off("x", one, "", said.append, silent, results=tmp_path / "results", runs=tmp_path / "runs")
    assert [result.figures.get("diverged") for result in found.values()] == [1, None]
    assert any("diverged at update" in text for text in said) and not list((tmp_path / "runs").iterdir())
    assert "| gru | 1 | - |" in page.page("x", one, list(found.values()))


WORDS = (
    'text={tokenizer="word",segmentation="whitespace",size=40}',
    *(f"{table}.size=8" for table in ("embedding", "encoder", "decoder", "attention")),
    "training={batch_tokens=150,epochs=4,optimizer={kind='adam',learning_rate=0.05}}",
    "evaluation.beam=1",
)
"""A translator of a few numbers and fewer words than there are, trained until no two of them write the same."""


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of tokens between spaces that lies where Multi30k is fetched to."""
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path / "data"))
    folder = tmp_path / "data" / "multi30k"
    folder.mkdir(parents=True)
    for file in CORPORA["multi30k"].files:
        (folder / file.name).touch()
    for name, pairs in zip(("train", "val", "test_2016_flickr"), corpus(2, train=120, valid=20, test=20), strict=True):
        write_lines(folder / f"{name}.en", (" ".join(pair.source_words) for pair in pairs))
        write_lines(folder / f"{name}.de", (" ".join(pair.target_words) for pair in pairs))
    return folder


def text(name: str, **options: Any) -> Text:
    return Text(name=name, corpus="multi30k", source="en", target="de", test="test_2016_flickr", **options)


def test_a_system_may_need_another_run_and_a_training_is_measured_in_many_ways(fetched: Path, tmp_path: Path) -> None:
    data = 'data={files=["@text(few)"],source="en",target="de"}'
    german = 'data={files=["@text(german)"]}'
    start = 'start={run="@run(words)",vocabulary="only"}'
    learner = ("training={epochs=1,batch_tokens=400}", "recurrence.size=8", "embedding.size=8", "recurrence.layers=1")
    one = Table(
        title="Words",
        seeds=(1,),
        links=True,
        texts=(text("few", pairs=100), text("german", sides="target")),
        systems=(
            System(name="words", recipe="bahdanau2015", settings=(data, *WORDS)),
            System(name="replaced", recipe="bahdanau2015", settings=(data, *WORDS), replace_unknown=True),
            System(name="few", recipe="bahdanau2015", settings=(data, *WORDS), candidates=1),
            System(name="german", recipe="sentence-lm", settings=(german, start, *learner)),
            System(
                name="fused", recipe="bahdanau2015", settings=(data, *WORDS), language_model="german", fusion_weight=0.5
            ),
        ),
    )
    words, replaced, few, language_model, fused = table.jobs(one, tmp_path / "runs")
    assert words.run == replaced.run == few.run == fused.run
    assert len({words.key, replaced.key, few.key, fused.key}) == 4
    assert language_model.needs == (words,) and fused.needs == (language_model,)
    found = queue.work_off("words", one, "", lambda _: None, silent, results=tmp_path, runs=tmp_path / "runs")
    figures = {result.system: result.figures for result in found.values()}
    assert figures["words"]["unknown words"] == figures["replaced"]["unknown words"] > 0
    assert figures["words"]["validation loss"] == figures["replaced"]["validation loss"]
    assert all(figures["words"]["bleu"] != figures[name]["bleu"] for name in ("replaced", "few", "fused"))
    assert 0 <= figures["words"]["links"] <= 100 and figures["german"]["perplexity"] > 1
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"texts", "aligners"}


def test_a_text_has_the_pairs_that_are_asked_for(fetched: Path, tmp_path: Path) -> None:
    whole = (fetched / "train.en").read_text().splitlines()
    short = [line for line in whole if len(line.split()) <= 6]
    assert 5 < len(short) < len(whole)
    text("short", longest=6, pairs=5).make(tmp_path / "short")
    assert (tmp_path / "short" / "train.en").read_text().splitlines() == short[:5]
    longer = [line for line in whole if line not in short]
    assert (tmp_path / "short" / "test.en").read_text().splitlines() == longer
    text("german", sides="target").make(tmp_path / "german")
    assert (tmp_path / "german" / "train.txt").read_bytes() == (fetched / "train.de").read_bytes()
    assert not (tmp_path / "german" / "train.en").exists()


def test_consecutive_pairs_are_joined_all_in_training_and_equally_many_elsewhere(fetched: Path, tmp_path: Path) -> None:
    made = text("joined", joined=3)
    made.make(tmp_path / "joined")
    assert made.digest != text("joined").digest
    for side in ("en", "de"):
        whole = {name: (fetched / f"{name}.{side}").read_text().splitlines() for name in ("train", "test_2016_flickr")}
        train, test = ((tmp_path / "joined" / f"{name}.{side}").read_text().splitlines() for name in ("train", "test"))
        lines = whole["train"]
        assert train[:120] == lines and len(train) == 120 + 60 + 40
        assert train[120] == " ".join(lines[:2]) and train[-1] == " ".join(lines[-3:])
        lines = whole["test_2016_flickr"]
        assert len(test) == 3 * (20 // 3) and test[6] == " ".join(lines[:2]) and test[-1] == " ".join(lines[15:18])


def result(system: str, seed: int, bleu: float) -> Result:
    return Result(
        f"{system}{seed}", system, seed, {"bleu": bleu, "bleu, source 1-10 words": bleu + 1}, "a machine", "2020-02-02"
    )


def test_a_system_may_be_trained_under_some_seeds_alone(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(
        'title = "One"\nseeds = [1, 2]\n[[systems]]\nname = "a"\nrecipe = "sentence-lm"\nseeds = [1]\n'
        '[[systems]]\nname = "b"\nrecipe = "sentence-lm"\n'
    )
    jobs = table.jobs(table.read("one", tmp_path))
    assert [(job.system.name, job.seed) for job in jobs] == [("a", 1), ("b", 1), ("b", 2)]


def test_an_ensemble_is_a_row_of_all_seeds_and_a_row_may_be_held_against_another(fetched: Path, tmp_path: Path) -> None:
    data = 'data={corpus="multi30k",source="en",target="de"}'
    words = System(name="words", recipe="bahdanau2015", settings=(data, *WORDS))
    together = words.model_copy(update={"name": "together", "ensemble": True})
    replaced = words.model_copy(update={"name": "replaced", "replace_unknown": True, "beside": "words"})
    one = Table(title="Together", seeds=(1, 2), systems=(words, together, replaced))
    jobs = list(table.jobs(one, tmp_path / "runs"))
    assert [(job.system.name, job.seed) for job in jobs if job.ensemble] == [("together", 2)]
    work_off = partial(queue.work_off, "together", one, "", lambda _: None, silent, results=tmp_path)
    found = {(result.system, result.seed): result.figures for result in work_off(runs=tmp_path / "runs").values()}
    assert found["together", 2]["validation loss"] == found["words", 2]["validation loss"]  # nothing is trained again
    assert found["together", 2]["chrf"] not in {found["words", seed]["chrf"] for seed in (1, 2)}
    ahead = {seed: found["replaced", seed]["bleu"] - found["words", seed]["bleu"] for seed in (1, 2)}
    assert max(ahead.values()) > 0
    for seed in (1, 2):
        figures = found["replaced", seed]
        assert figures["bleu ahead, at least"] <= ahead[seed] <= figures["bleu ahead, at most"]
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"aligners"}


@pytest.mark.parametrize(
    ("wanted", "others", "verdict"),
    [
        ("higher", (30.0, 29.0), "yes"),
        ("lower", (30.0, 29.0), "no"),
        ("higher", (30.0, 33.0), "by some seeds only"),
        ("higher", (30.0,), "open"),
        ("same", (31.5, 32.5), "yes"),
        ("same", (33.0, 34.0), "no"),
    ],
)
def test_a_finding_holds_if_every_seed_says_so_or_if_seeds_differ_as_much(
    wanted: Literal["higher", "lower", "same"], others: tuple[float, ...], verdict: str, tmp_path: Path
) -> None:
    finding = Finding(claim="gates help", system="gru", beside="elman", wanted=wanted)
    results = [result("gru", 1, 31.0), result("gru", 2, 32.0)]
    results += [result("elman", seed, bleu) for seed, bleu in enumerate(others, 1)]
    written = page.page("units", small(tmp_path, findings=(finding,)), results)
    assert written.splitlines()[-1].endswith(f"| {verdict} |")
    assert "| gru | 2 | 31.5 ± 0.7 |" in written and "| source 1-10 words |" in written
    assert "TABLES=units`" in written and "2020-02-02, on a machine; " in written


@pytest.mark.parametrize(("ahead", "verdict"), [((0.4,), "yes"), ((0.4, -0.1), "by some seeds only")])
def test_a_bound_is_a_finding_even_of_one_seed(ahead: tuple[float, ...], verdict: str, tmp_path: Path) -> None:
    figure = "bleu ahead, at least"
    results = [Result(f"{n}", "gru", n, {figure: one}, "a machine", "2020-02-02") for n, one in enumerate(ahead, 1)]
    finding = Finding(claim="gates help", system="gru", figure=figure)
    written = page.page("units", small(tmp_path, findings=(finding,)), results)
    assert written.splitlines()[-1].endswith(f"| {verdict} |")


def test_what_a_table_names_must_be_there(tmp_path: Path) -> None:
    one = small(tmp_path)
    for setting in "start.run=@run(later)", "data.files=['@text(other)']":
        systems = (one.systems[0].model_copy(update={"settings": (setting,)}), one.systems[1])
        with pytest.raises(ConfigError, match=r"'gru': the (system further up|text) '(later|other)' is unknown"):
            list(table.jobs(one.model_copy(update={"systems": systems})))
    for finding, said in (
        ({"beside": "elmen"}, "Did you mean 'elman'"),
        ({"wanted": "same"}, "needs beside, the system"),
    ):
        with pytest.raises(ConfigError, match=said):
            Table.parse(one.model_dump() | {"findings": [{"claim": "x", "system": "gru"} | finding]}, "here")


@pytest.mark.parametrize("name", table.names())
def test_every_table_that_comes_along_can_be_measured_and_its_page_says_what_its_results_say(name: str) -> None:
    found, results = list(table.jobs(table.read(name))), queue.results_of(queue.RESULTS / f"{name}.jsonl")
    for job in found:
        if not (data := job.experiment.data).files:
            assert any(data.test in file.name for file in CORPORA[data.corpus].files), job.system.name
    # a recipe that changes takes the rows of a table along, unless the table says what they were
    kept = [results[job.key] for job in found if job.key in results]
    assert found and len(kept) == len(results)
    if kept:
        assert (queue.RESULTS / f"{name}.md").read_text(encoding="utf-8") == page.page(name, table.read(name), kept)
