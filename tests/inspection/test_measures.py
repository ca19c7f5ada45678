"""Training curves, embeddings and scores by length."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import ConfigError, DataError, RunError
from anaphora.evaluation.bleu import bleu
from anaphora.inspection.curves import curves
from anaphora.inspection.embeddings import (
    lacks_embeddings,
    principal_components,
    sentence_encoding,
    sentence_projection,
    word_neighbours,
)
from anaphora.inspection.length import by_lengths
from anaphora.inspection.subject import Subject
from anaphora.run import Run


def test_curves_have_every_point_of_the_log(translator: Subject) -> None:
    [found] = curves([translator.trained.path])
    logged = [json.loads(line) for line in (translator.trained.path / "metrics.jsonl").read_text().splitlines()]
    losses = [(line["update"], line["loss"]) for line in logged if "loss" in line]
    assert list(found.training["loss"]) == losses
    best = Run.open(translator.trained.path).best()
    assert best == found.best and found.best in dict(found.validation["loss"])


def test_a_run_without_a_log_is_named() -> None:
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


def test_words_and_texts_that_cannot_be_shown_are_refused(translator: Subject, language_model: Subject) -> None:
    with pytest.raises(DataError, match="'adf' is not one token"):
        word_neighbours(translator, ["adf"])
    with pytest.raises(DataError, match="takes 3 to"):
        sentence_projection(translator, ["adf"])
    assert lacks_embeddings(language_model) == ""


def test_loss_by_length_is_that_of_the_lines_of_each_group(language_model: Subject) -> None:
    texts = ["line 1", "line 2 of the little book and some more words than ten are here in it"]
    [found] = by_lengths([language_model], texts)
    for group, score in zip(found.groups, language_model.predictor.score_lines(texts), strict=True):
        assert group.loss == pytest.approx(-score.nats / score.tokens)
        assert (group.sentences, group.tokens, group.bleu) == (1, score.tokens, None)


def test_bleu_by_length_is_that_of_the_translations_of_each_group(translator: Subject) -> None:
    sources, targets = ["a\td", "beg", "a d f b e g c d h a e h"], ["d\ta\t", "geb", "h e a h d c g e b f d a"]
    [found] = by_lengths([translator], sources, targets)
    outputs = [output.text for output in translator.predictor.translate(sources)]
    assert [group.sentences for group in found.groups] == [2, 1]
    assert found.groups[0].bleu == pytest.approx(bleu(outputs[:2], targets[:2], language="fr").value)
    scored = translator.predictor.score_pairs(sources, targets)
    assert sum(group.loss * group.tokens for group in found.groups) == pytest.approx(-sum(one.score for one in scored))
    assert sum(group.tokens for group in found.groups) == 5 + 4 + 24  # a tab between words is a token


def test_scores_by_length_ask_for_what_the_run_needs(translator: Subject, language_model: Subject) -> None:
    with pytest.raises(ConfigError, match="a source and its reference"):
        by_lengths([translator], ["adf"])
    with pytest.raises(ConfigError, match="without references"):
        by_lengths([language_model], ["line"], ["line"])
    with pytest.raises(DataError, match="no lines"):
        by_lengths([language_model], [])
