"""``anaphora generate``: a language model continues a text.

Examples:
    anaphora generate runs/book --prompt "The man walks"
    anaphora generate runs/book --prompt "The man" --greedy
    anaphora generate runs/book --length 2000 --seed 3
    anaphora generate runs/book --prompt "Chapter 1" --lines 40
    anaphora generate runs/book --prompts beginnings.txt --seed 3
    anaphora generate runs/book --prompt "The man" --temperature 0.8 --top-p 0.9 --seed 3
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from anaphora.cli.files import given_lines, is_interactive, typed_texts, writing
from anaphora.cli.options import InitialState, Machine, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.tables import with_declared
from anaphora.cli.talk import put, say, show
from anaphora.formats.json_text import figures_as_json
from anaphora.options import Excludes, Option
from anaphora.search.sampling import Sampling

if TYPE_CHECKING:
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor


CONFLICTS = (
    Excludes("--greedy", "--beam", "--greedy is a beam of 1"),
    Excludes("--temperature --top-k --top-p --seed", "--greedy --beam", "{option} is for drawing, {other} draws none"),
    Excludes("--prompt", "--prompts", "--prompt is one text and --prompts a file of them"),
    Excludes("--lines", "--prompts", "--lines is for one text, but --prompts writes a line for each"),
)


@dataclass(frozen=True)
@with_declared(Sampling)
class SamplingTable:
    """The declared options of sampling."""


def run(
    run_folder: RunFolder,
    prompt: Annotated[str | None, Option("Text to continue.", default="none; typed, at a terminal")] = None,
    prompts: Annotated[str | None, Option("Continue every line of this file.", metavar="FILE|-")] = None,
    length: Annotated[
        int | None, Option("Number of tokens, across line ends; with --prompts the maximum.", min=1, max=1_000_000)
    ] = None,
    lines: Annotated[int | None, Option("Number of lines.", min=1, max=100_000, default="1 without --length")] = None,
    greedy: Annotated[bool, Option("Take the most probable token at every step.")] = False,
    beam: Annotated[int, Option("Beam search for the most probable line, with this beam size.", min=0)] = 0,
    initial_state: InitialState = None,
    as_json: Annotated[bool, Option("Print a JSON object per text.", name="--json")] = False,
    *,
    sampling: SamplingTable,
    machine: Machine,
) -> None:
    """Generate text, or continue a prompt.

    At a terminal, without a prompt, --length or --lines, continue what is typed, line by line, until Ctrl-D.
    """
    from anaphora.tasks.language_model.predictor import LanguageModelPredictor
    from anaphora.tasks.runs import load

    asked: dict[str, Any] = {"beam": 1 if greedy else beam, **vars(sampling)}
    asked |= {} if length is None else {"length": length}
    if (prompt, prompts, length, lines) == (None,) * 4 and is_interactive("-"):
        prompts = "-"
    with listening() as report:
        model = load(
            run_folder, kind=LanguageModelPredictor, initial_state=initial_state, report=report, **machine.options
        )
    if prompts is None:
        written = model.generate(prompt or "", **asked, lines=lines, on_text=None if as_json else _write)
        unknown = written.unknown
        show(figures_as_json(asdict(written)) if as_json else "")
    elif is_interactive(prompts) and not as_json:
        unknown = _continue_typed(model, asked)
    else:
        unknown = _continue_lines(model, prompts, asked, as_json)
    if unknown:
        say(f"Unknown tokens of the prompt{'s' * (prompts is not None)}, read as <unk>: {unknown:,}.")


def _continue_typed(model: "LanguageModelPredictor", asked: dict[str, Any]) -> int:
    """Continue every line that is typed, by draws of its own; returns the unknown tokens of them all."""
    unknown = 0
    for number, text in enumerate(typed_texts()):
        unknown += model.generate(text, **asked | {"seed": asked["seed"] + number}, lines=1, on_text=_write).unknown
        show()
    return unknown


def _continue_lines(model: "LanguageModelPredictor", file: str, asked: dict[str, Any], as_json: bool) -> int:
    """Continue every line of a file; returns the unknown tokens of them all."""
    unknown = 0
    with listening() as report, writing(None) as write:
        for written in model.generate_stream(given_lines(file), **asked, report=report):
            write(figures_as_json(asdict(written)) if as_json else written.text)
            unknown += written.unknown
    return unknown


def _write(text: str) -> None:
    """Print what is written as it is written."""
    put(text.encode())
