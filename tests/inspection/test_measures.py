"""Training curves, embeddings and scores by length."""

import json
import shutil
from collections import Counter
from copy import copy
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError, RunError
from anaphora.evaluation.bleu import bleu
from anaphora.inspection.curves import curves
from anaphora.inspection.drawing import canvas
from anaphora.inspection.drawing.charts import lengths_figure
from anaphora.inspection.embeddings import (
    Embeddings,
    principal_components,
    sentence_encoding,
    sentence_projection,
    word_neighbours,
)
from anaphora.inspection.length import by_lengths
from anaphora.inspection.subject import Subject
from anaphora.run import Run

from .conftest import trained_translator, write_pairs


def test_curves_have_every_point_of_the_log(translator: Subject) -> None:
    [found] = curves([translator.trained.path])
    logged = [json.loads(line) for line in (translator.trained.path / "metrics.jsonl").read_text().splitlines()]
    losses = [(line["update"], line["loss"]) for line in logged if "loss" in line]
    assert list(found.training["loss"]) == losses
    best = Run.open(translator.trained.path).best()
    assert best == found.best and found.best in dict(found.validation["loss"])
    with pytest.raises(RunError, match="no training curves"):
        curves([Path(__file__).parents[1] / "runs" / "format-2"])


def test_neighbours_are_the_words_of_the_greatest_cosine(translator: Subject) -> None:
    found = word_neighbours(translator, ["a"], nearest=3)
    tokenizer = translator.trained.tokenizers["source"]
    [own] = [one for one in found.neighbours if one.side == "source"]
    table = translator.trained.model.get_submodule("source_embedding").weight.detach().double()
    [row] = tokenizer.encode("a")
    cosine = torch.nn.functional.cosine_similarity(table, table[row].unsqueeze(0))
    cosine[[0, 1, 2, 3, row]] = -2
    order = cosine.argsort(descending=True)[:3].tolist()
    assert [word for word, _ in own.nearest] == tokenizer.pieces(order)
    assert [value for _, value in own.nearest] == pytest.approx(cosine[order].tolist())
    assert len(found.projection.points) == 2 * 4 and {one.side for one in found.neighbours} == {"source", "target"}


HEARD = [a + b + "m" for a in "abc" for b in "def"]
SPOKEN = [a + "m" + b for a in "uvw" for b in "xyz"]
HELD_OUT = "agh"  # g and h are no tokens of training


@pytest.fixture(scope="module", params=[False, True], ids=["table a side", "shared table"])
def run(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translator between languages that have one letter in common, and one vocabulary."""
    folder = tmp_path_factory.mktemp("joint")
    write_pairs(folder, train=list(zip(HEARD, SPOKEN, strict=True)), val=[(HELD_OUT, "uvm")])
    settings = ["text.joint=true", f"embedding.shared={str(request.param).lower()}"]
    return trained_translator(tmp_path_factory.mktemp("run"), folder, *settings).trained.path


def of_sides(found: Embeddings) -> dict[tuple[str, str], dict[str, int]]:
    """How often each neighbour occurred, by word and side; -1 where that is not known."""
    pairs = ((one, [word for word, _ in one.nearest]) for one in found.neighbours)
    counted = ((one, words, one.occurrences[1:] or [-1] * len(words)) for one, words in pairs)
    return {(one.word, one.side): dict(zip(words, counts, strict=True)) for one, words, counts in counted}


def test_neighbours_occurred_in_training_on_their_side_and_say_how_often(run: Path) -> None:
    found = word_neighbours(Subject.open(run), ["a", "m", "z"], nearest=99)
    sides = {"source": Counter("".join(HEARD)), "target": Counter("".join(SPOKEN))}
    assert of_sides(found) == {
        (letter, side): {other: n for other, n in count.items() if other != letter} if count[letter] else {}
        for letter in "amz"
        for side, count in sides.items()
    }
    own = {(one.word, one.side): one.occurrences[0] for one in found.neighbours}
    assert own == {(letter, side): count[letter] for letter in "amz" for side, count in sides.items()}
    text = str(found)
    assert "a (target): not in training" in text and "m (source 9x): " in text
    assert found.projection.names.count("a") == 2  # asked for, and beside m
    for word in "g", "am":  # never seen in training, and more than one token
        with pytest.raises(DataError, match="not one token"):
            word_neighbours(Subject.open(run), [word])


def test_without_the_encoded_split_neighbours_are_what_training_moved(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "run")
    (copy / "encoded" / "train" / "source.ids").write_bytes(b"damaged")
    damaged = of_sides(word_neighbours(Subject.open(copy), ["a"], nearest=99))
    shutil.rmtree(copy / "encoded")
    subject = Subject.open(copy)
    found = word_neighbours(subject, ["a"], nearest=99)
    moved = set("bcdefm") | (set("uvwxyz") if subject.trained.experiment.embedding.shared else set())  # type: ignore[attr-defined]
    assert set(of_sides(found)["a", "source"]) == set(damaged["a", "source"]) == moved
    assert damaged["a", "target"] == {} and not any(one.occurrences for one in found.neighbours)
    assert "occurrences are not known" in str(found)


@given(st.integers(3, 8), st.integers(2, 6), st.integers(0, 1000))
def test_principal_components_are_those_of_the_covariance(rows: int, width: int, seed: int) -> None:
    points = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found, explained = principal_components(points)
    values = np.linalg.eigvalsh(np.cov(points.numpy().T))[::-1]
    assert explained == pytest.approx(tuple(values[:2] / values.sum()), abs=1e-9)
    assert np.var(np.array(found), axis=0, ddof=1) == pytest.approx(values[:2], abs=1e-9)


def test_the_encoding_of_a_sentence_is_the_last_state_of_each_direction(translator: Subject) -> None:
    encoding = sentence_encoding(translator, "adf")
    model: Any = translator.trained.model
    read_BT = torch.from_numpy(translator.example("adf", "").batch.input_ids.ids_BT[:, :4])
    encoded = model.encoder(model.source_embedding.vectors(read_BT), torch.tensor([4]))
    assert encoding.tolist() == pytest.approx(encoded.summaries[-1]["h"][0].tolist(), abs=1e-6)
    found = sentence_projection(translator, ["adf", "beg", "cdh"])
    assert len(found.projection.points) == 3 and sum(found.projection.explained) == pytest.approx(1)
    with pytest.raises(DataError, match="takes 3 to"):
        sentence_projection(translator, ["adf"])


def test_scores_by_length_are_those_of_the_lines_of_each_group(translator: Subject, language_model: Subject) -> None:
    texts = ["line 1", "line 2 of the little book and some more words than ten are here in it"]
    [found] = by_lengths([language_model], texts)
    for group, score in zip(found.groups, language_model.predictor.score_lines(texts), strict=True):
        assert group.loss == pytest.approx(-score.nats / score.tokens)
        assert (group.sentences, group.tokens, group.bleu) == (1, score.tokens, None)
    sources, targets = ["a\td", "beg", "a d f b e g c d h a e h"], ["d\ta\t", "geb", "h e a h d c g e b f d a"]
    [found] = by_lengths([translator], sources, targets)
    outputs = [output.text for output in translator.predictor.translate(sources)]
    assert [group.sentences for group in found.groups] == [2, 1]
    assert found.groups[0].bleu == pytest.approx(bleu(outputs[:2], targets[:2], language="fr").value)
    scored = translator.predictor.score_pairs(sources, targets)
    assert sum(group.loss * group.tokens for group in found.groups) == pytest.approx(-sum(one.score for one in scored))
    assert sum(group.tokens for group in found.groups) == 5 + 4 + 24  # a tab between words is a token


SOURCES = [f"{'w ' * (8 + number % 7)}{number}" for number in range(14)]
REFERENCES = [f"the man {number} is in the garden of the house" for number in range(14)]


def with_translations(subject: Subject, wrong: int) -> Subject:
    """Return a subject that has the end of every ``wrong``-th sentence wrong."""
    texts = [one if number % wrong else one[:-9] + "a street" for number, one in enumerate(REFERENCES)]
    predictor = copy(subject.predictor)
    predictor.translate = lambda sources, **options: [SimpleNamespace(text=text) for text in texts]
    return replace(subject, predictor=predictor)


def test_runs_that_differ_in_their_seed_alone_are_one_system_with_the_spread_of_its_seeds(make_translator: Any) -> None:
    several = [with_translations(make_translator("gru", f"training.seed={seed}"), seed + 1) for seed in (1, 2)]
    other = with_translations(make_translator("lstm"), 2)
    system, alone = by_lengths([several[0], other, several[1]], SOURCES, REFERENCES)
    assert (system.seeds, alone.seeds) == (2, 1) and alone.run == other.name
    assert system.name == f"{several[0].name} (2 seeds)" and alone.name == other.name
    runs = [by_lengths([subject], SOURCES, REFERENCES)[0].groups for subject in several]
    for group, *of_runs in zip(system.groups, *runs, strict=True):
        scores = [one.bleu for one in of_runs]
        assert scores[0] != scores[1]
        assert group.bleu == pytest.approx(mean(scores)) and group.deviation == pytest.approx(stdev(scores))
        assert group.loss == pytest.approx(mean(one.loss for one in of_runs))
        assert all(one.deviation is None and one.sentences == group.sentences for one in of_runs)
    assert "over seeds" in str(system) and "over seeds" not in str(alone)
    shown = canvas.svg(lambda: lengths_figure([system, alone]))
    assert "(2 seeds)" in shown and "0-10" in shown


def test_the_interval_of_bleu_is_that_of_draws_of_the_sentences(translator: Subject) -> None:
    [found] = by_lengths([with_translations(translator, 2)], [*SOURCES[:-1], "w " * 30], REFERENCES)
    *groups, alone = found.json()["groups"]
    for group in groups:
        low, high = group["bleu_interval"]
        assert 0 < low < group["bleu"] < high <= 100
    assert alone["sentences"] == 1  # every draw of one sentence is that sentence
    assert alone["bleu_interval"] == pytest.approx((alone["bleu"], alone["bleu"]))


def test_bleu_by_length_is_under_the_conditions_that_the_experiment_names(make_translator: Any) -> None:
    for condition, expected in (("raw", 0), ("moses-lowercase", 100)):
        subject = with_translations(make_translator("gru", f"evaluation.conditions={condition}"), 20)
        groups = by_lengths([subject], SOURCES, [one.upper() for one in REFERENCES])[0].groups
        assert all(group.bleu == pytest.approx(expected, abs=15) for group in groups)


def test_scores_by_length_ask_for_what_the_run_needs(translator: Subject, language_model: Subject) -> None:
    with pytest.raises(ConfigError, match="a source and its reference"):
        by_lengths([translator], ["adf"])
    with pytest.raises(ConfigError, match="without references"):
        by_lengths([language_model], ["line"], ["line"])
    with pytest.raises(DataError, match="no lines"):
        by_lengths([language_model], [])
