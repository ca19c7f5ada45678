"""What a recipe says of its steps is what its network does."""

import json

import pytest

from anaphora import recipes
from anaphora.cli.app import main
from anaphora.experiment.reading import read_experiment
from anaphora.inspection.programs import programs_of
from anaphora.models.language_model import LanguageModel
from anaphora.protocols import PartDescription, SignalRead, VocabularyInfo

WITHOUT_STEPS = {"aligner", "ptb-ngram", "ptb-feedforward", "ptb-log-bilinear", "ptb-convolution"}


def parts_of(recipe: str, step: str) -> dict[str, PartDescription]:
    return {part.name: part for part in programs_of(read_experiment(recipes.read(recipe), recipe))[step]}


def test_attention_of_bahdanau_reads_the_state_before_and_its_context_enters_the_unit() -> None:
    parts = parts_of("bahdanau2015", "decoder")
    assert list(parts)[:4] == ["attention", "context", "input0", "layer0"]
    attention, unit = parts["attention"], parts["layer0"]
    assert attention.kind == "Attend (concat, global, softmax)"
    assert attention.reads == (SignalRead("layer0.h", True),)
    assert attention.writes == ("context", "weights")
    assert {"attention.keys", "attention.values"} <= {*attention.memory}
    assert unit.kind == "Unit (gru)"
    assert unit.reads == (SignalRead("a0", False), SignalRead("attended", False), SignalRead("layer0.h", True))
    size = unit.weights["layer0.h"][1]
    assert parts["input0"].weights["input0.weight"][0] == 3 * size
    assert {name for name, part in parts.items() if part.loops} == {"attention", "context", "layer0"}


def test_attention_of_luong_reads_the_new_state_and_is_fed_to_the_next_step() -> None:
    parts = parts_of("luong2015", "decoder")
    assert parts["attention"].reads[0] == SignalRead("layer1.h", False)
    assert parts["feed"].reads == (SignalRead("o", True),)
    assert not parts["input0"].loops and all(parts[name].loops for name in ("feed", "layer0", "attention", "combine"))


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


def test_every_loop_of_a_recipe_runs_in_c() -> None:
    programs = {name: programs_of(read_experiment(recipes.read(name), name)) for name in recipes.names()}
    loops = {(name, part.loop) for name, steps in programs.items() for parts in steps.values() for part in parts}
    assert [(name, loop) for name, loop in loops if "in Python" in loop] == []
    assert {name for name, loop in loops if loop.endswith("in C")} > {"bahdanau2015", "character-lm", "cmudict"}


def test_recipes_of_networks_without_steps_have_none() -> None:
    assert not any(programs_of(read_experiment(recipes.read(name), name)) for name in WITHOUT_STEPS)


@pytest.mark.parametrize("arguments", [["--program"], ["auto", "--program"], ["bahdanau2015", "--json"]])
def test_a_step_is_that_of_one_recipe(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", *arguments]) == 2
    assert "--program" in capsys.readouterr().err
