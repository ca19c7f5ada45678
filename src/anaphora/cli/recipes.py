"""``anaphora recipes``: list the recipes, or print one.

Examples:
    anaphora recipes
    anaphora recipes character-lm > mine.toml
    anaphora recipes auto
    anaphora recipes --json
    anaphora recipes bahdanau2015 --program
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from anaphora import recipes
from anaphora.cli.experiments import AUTO
from anaphora.cli.options import Json
from anaphora.cli.talk import print_json, show
from anaphora.errors import ConfigError
from anaphora.options import Argument, Option

if TYPE_CHECKING:
    from anaphora.protocols import PartDescription


def run(
    name: Annotated[str, Argument("Recipe to print as TOML.", metavar="[RECIPE]")] = "",
    program: Annotated[bool, Option("Print the program of one step instead: its parts, signals and weights.")] = False,
    as_json: Json = False,
) -> None:
    """List the recipes, or print one to start from."""
    from anaphora.experiment import auto

    if program:
        return _print_program(name, as_json)
    if name:
        if as_json:
            raise ConfigError("--json is for the list of recipes and for --program; a recipe is TOML: leave it out.")
        return show(auto.description() if name == AUTO else recipes.read(name), end="")
    described = {AUTO: auto.SUMMARY} | {known: recipes.describe(known) for known in recipes.names()}
    if as_json:
        return print_json(described)
    width = max(map(len, described))
    for known, line in described.items():
        show(f"{known:<{width}}  {line}")


def _print_program(name: str, as_json: bool) -> None:
    """Print the steps of a recipe, for people or as JSON; a sentence where it has none."""
    from anaphora.experiment.reading import read_experiment
    from anaphora.inspection.programs import programs_of
    from anaphora.tasks.registry import task_of

    if name in ("", AUTO):
        raise ConfigError("--program shows the steps of one recipe: name it before --program.")
    experiment = read_experiment(recipes.read(name), name)
    programs = programs_of(experiment)
    note = "" if programs else f"{name} has no steps to show: {task_of(experiment).plural} have no recurrent network."
    if as_json:
        shown = [{"name": step, "parts": [_as_table(part) for part in parts]} for step, parts in programs.items()]
        print_json({"recipe": name, "programs": shown, "note": note})
    else:
        show(note or "\n\n".join("\n".join(_lines(step, parts)) for step, parts in programs.items()))


def _as_table(part: "PartDescription") -> Mapping[str, object]:
    """Return a part for ``json.dumps``."""
    return part._asdict() | {"reads": [read._asdict() for read in part.reads], "loops": part.loops}


def _lines(step: str, parts: "Sequence[PartDescription]") -> Iterator[str]:
    """Yield a step for people: a line a part, and below it what it uses; then the loops, and what runs them."""
    yield step
    if not parts:
        yield "  no steps: it reads the whole sentence at once"
    for number, part in enumerate(parts, 1):
        yield f"  {number}. {part.name}: {part.kind}, {'step by step' if part.loops else 'all steps at once'}"
        reads = [f"previous {read.signal}" if read.previous else read.signal for read in part.reads]
        yield f"       {', '.join(reads)} -> {', '.join(part.writes)}"
        weights = [f"{weight} ({' x '.join(map(str, shape))})" for weight, shape in part.weights.items()]
        if weights:
            yield f"       weights: {', '.join(weights)}"
        if part.memory:
            yield f"       memory: {', '.join(part.memory)}"
    yield from (f"  {loop}" for loop in dict.fromkeys(part.loop for part in parts if part.loops))
