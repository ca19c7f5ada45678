"""``anaphora draw``: handwriting from texts, and strokes or signals continued.

Examples:
    anaphora draw runs/strokes --text "hello" --bias 1 --output hello.svg
    anaphora draw runs/strokes --texts lines.txt --output lines.svg
    anaphora draw runs/strokes --text "more" --prime mine.jsonl --output mine.svg
    anaphora draw runs/sketches --count 10 --seed 3 --json
"""

import json
from itertools import repeat
from pathlib import Path
from typing import Annotated, Any

from anaphora.cli.files import check_writable, given_texts, writing
from anaphora.cli.options import Machine, RunFolder
from anaphora.cli.progress import listening
from anaphora.cli.talk import say
from anaphora.errors import ConfigError, DataError
from anaphora.options import Excludes, Option

CONFLICTS = (Excludes("--text", "--texts", "--text is one text and --texts a file of them"),)


def run(
    run_folder: RunFolder,
    text: Annotated[str | None, Option("The text to write, for a model of texts.")] = None,
    texts: Annotated[str | None, Option("Write every line of this file.", metavar="FILE|-")] = None,
    count: Annotated[int, Option("Draw this many; of a text as well.", min=1, max=10_000)] = 1,
    bias: Annotated[float, Option("0 draws freely, larger values draw tidier (Graves 2013).", min=0)] = 0.0,
    prime: Annotated[Path | None, Option("Continue this file's first sequence, in its style.", metavar="FILE")] = None,
    length: Annotated[int | None, Option("Points to draw at most.", min=1, default="700")] = None,
    seed: Annotated[int, Option("Another seed, another drawing.", min=0)] = 0,
    output: Annotated[Path | None, Option("Write here (.svg, or .jsonl) instead of printing.")] = None,
    as_json: Annotated[bool, Option("Print a JSON object for each drawing, not SVG.", name="--json")] = False,
    *,
    machine: Machine,
) -> None:
    """Write a text by hand, or draw predicted strokes.

    Drawings are SVG or JSON.
    """
    if output is not None and output.suffix.lower() not in (".svg", ".jsonl"):
        raise ConfigError(f"--output should end in .svg or .jsonl, but is {output}: name it so.")
    check_writable(output, read=[run_folder, texts, prime])

    from anaphora.data.traces import read_traces
    from anaphora.tasks.runs import load
    from anaphora.tasks.trace.answers import Series, svg
    from anaphora.tasks.trace.predictor import TracePredictor

    as_json = as_json or (output is not None and output.suffix.lower() == ".jsonl")
    with listening() as report:
        model = load(run_folder, kind=TracePredictor, report=report, **machine.options)
        given = [text or ""] if texts is None else list(given_texts(texts))
        options: dict[str, Any] = {} if length is None else {"length": length}
        wanted = [one for text in given for one in repeat(text, count)]
        first = None if prime is None else next(read_traces(prime), None)
        if first is None and prime is not None:
            raise DataError(f"{prime} has no sequence: give one.")
        drawn = list(model.generate_stream(wanted, bias=bias, seed=seed, prime=first, **options, report=report))
        if not as_json and any(isinstance(one, Series) for one in drawn):
            raise ConfigError(f"{run_folder} predicts vectors, which are no drawing: add --json.")
        with writing(output) as write:
            if as_json:
                for one in drawn:
                    write(json.dumps(one.json(), ensure_ascii=False))
            else:
                for line in svg([one for one in drawn if not isinstance(one, Series)]).splitlines():
                    write(line)
    if unfinished := sum(not one.ended for one in drawn):
        say(f"{unfinished:,} of {len(drawn):,} reached the greatest length and were cut off; see --length.")
