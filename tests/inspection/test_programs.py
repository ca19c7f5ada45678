"""What a recipe says of its steps is what its network does."""

import json

import pytest

from anaphora import recipes
from anaphora.cli.app import main
from anaphora.experiment.reading import read_experiment
from anaphora.inspection.programs import programs_of
from anaphora.models.language_model import LanguageModel
from anaphora.protocols import VocabularyInfo

WITHOUT_STEPS = {"aligner", "ptb-ngram", "ptb-feedforward", "ptb-log-bilinear", "ptb-convolution"}


def test_layers_of_a_language_model_use_all_of_their_weights() -> None:
    for recipe in ("ptb-elman", "zaremba2014-small", "ptb-awd"):
        experiment = read_experiment(recipes.read(recipe), recipe)
        model = LanguageModel(experiment, VocabularyInfo(experiment.text.size, 0, 1, 2, 3))  # type: ignore[attr-defined, arg-type]
        [parts] = model.programs().values()
        shown = {name: shape for part in parts for name, shape in part.weights.items()}
        assert shown == {name: tuple(weight.shape) for name, weight in model.recurrence.weights.tensors().items()}


@pytest.mark.parametrize("recipe", ["character-lm", "ptb-ngram"])
def test_a_recipe_prints_its_steps_or_why_there_are_none(recipe: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", recipe, "--program"]) == 0
    shown = capsys.readouterr().out
    assert main(["recipes", recipe, "--program", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert bool(table["note"]) == (not table["programs"]) == (recipe in WITHOUT_STEPS)
    if recipe in WITHOUT_STEPS:
        assert shown == table["note"] + "\n" and shown.startswith(f"{recipe} has no steps to show: ")
    for step in table["programs"]:
        assert step["name"] in shown
        places = [shown.index(f". {part['name']}: ") for part in step["parts"]]
        assert places == sorted(places)


def test_every_loop_of_a_recipe_runs_in_c_and_networks_without_steps_have_none() -> None:
    programs = {name: programs_of(read_experiment(recipes.read(name), name)) for name in recipes.names()}
    loops = {(name, part.loop) for name, steps in programs.items() for parts in steps.values() for part in parts}
    assert [(name, loop) for name, loop in loops if "in Python" in loop] == []
    assert {name for name, loop in loops if loop.endswith("in C")} > {"bahdanau2015", "character-lm", "cmudict"}
    assert not any(programs[name] for name in WITHOUT_STEPS)


@pytest.mark.parametrize("arguments", [["--program"], ["auto", "--program"], ["bahdanau2015", "--json"]])
def test_a_step_is_that_of_one_recipe(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", *arguments]) == 2
    assert "--program" in capsys.readouterr().err
