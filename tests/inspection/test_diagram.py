"""A diagram has every part of every step, and every signal that is carried from one to the next."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest

from anaphora import recipes
from anaphora.experiment.reading import read_experiment
from anaphora.inspection.diagram import WORDS, Diagram, diagrams
from anaphora.inspection.programs import programs_of


def drawn(name: str, cut_every: int = 0) -> list[Diagram]:
    return diagrams(name, programs_of(read_experiment(recipes.read(name), name)), cut_every)


def texts(svg: str) -> Sequence[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("}text")]


@pytest.mark.parametrize("name", ["luong2015", "bahdanau2015", "sutskever2014", "character-lm"])
def test_each_part_is_a_box_at_each_step_and_each_carried_signal_an_arrow(name: str) -> None:
    whole, *steps = drawn(name)
    svg = whole.svg()
    parts = [part for program in whole.programs.values() for part in program]
    carried = [read for part in parts for read in part.reads if read.previous]
    assert svg.count('class="box"') == len(parts) * len(WORDS)
    assert svg.count('class="carried"') == len(carried) * (len(WORDS) - 1)
    assert svg.count('class="first"') == len(carried)
    flows = sum(len([read for read in part.reads if not read.previous]) for part in parts)
    outputs = sum(1 for program in whole.programs.values() if program)
    assert svg.count('class="flow"') == (flows + outputs) * len(WORDS)
    for part in parts:
        assert texts(svg).count(part.name) >= len(WORDS)
    for step in steps:
        [program] = step.programs.values()
        assert step.svg().count('class="box"') == len(program)


def test_a_single_step_is_written_in_the_singular() -> None:
    whole, *steps = drawn("luong2015")
    assert str(whole).startswith("luong2015, 4 steps\n")
    assert all(str(step).splitlines()[0].endswith(", 1 step") for step in steps)


def test_a_direction_from_right_to_left_carries_its_state_from_the_last_word_to_the_first() -> None:
    whole = drawn("bahdanau2015")[0]
    [backward] = [one for one in whole.programs if one.startswith("encoder") and one.endswith("right to left")]
    svg = Diagram("one", {backward: whole.programs[backward]}).svg()
    places = {word: float(x) for x, word in re.findall(r'<text x="(\d+)"[^>]*>(I|am|a|student)</text>', svg)}
    assert places["I"] < places["am"] < places["a"] < places["student"]
    carried = re.findall(r'class="carried" d="M(\d+) \d+ L(\d+) \d+"', svg)
    assert carried and all(float(start) > float(end) for start, end in carried)
    [(start, end)] = re.findall(r'class="first" d="M(\d+) \d+ L(\d+) \d+"', svg)
    assert float(start) > float(end) > places["student"]


def test_weights_are_named_with_their_shapes_and_memory_is_drawn() -> None:
    svg = drawn("luong2015")[0].svg()
    assert re.search(r"weights: input0\.weight \d+ x \d+; input0\.bias \d+<", svg) and 'class="memory"' in svg


def test_cuts_stand_between_chunks() -> None:
    assert drawn("character-lm")[0].svg().count('class="cut"') == 0
    svg = drawn("character-lm", cut_every=2)[0].svg()
    assert svg.count('class="cut"') == 1 and "the gradient stops here" in svg
