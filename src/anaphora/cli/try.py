"""``anaphora try``: the models that come with the package, on a text of one's own.

Examples:
    anaphora try "I am hungry."
    anaphora try computer
    anaphora try
    anaphora try --model spelling serendipity
    cat letter.txt | anaphora try --json
"""

import time
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import Annotated, Any

from anaphora.cli.files import given_texts, is_interactive, typed_texts
from anaphora.cli.options import Json
from anaphora.cli.talk import complain, print_json, say, show
from anaphora.errors import AnaphoraError, DataError
from anaphora.options import Argument, Option
from anaphora.trial import TRIAL_MODELS, trial_model
from anaphora.wording import check_known

KINDS = {
    "english-french": ("French", "--source en --target fr", "echo 'I am hungry.' | anaphora translate"),
    "spelling": ("", "--task transduce", "echo computer | anaphora predict"),
}
"""Label of each model's answers, or none for the word itself, and how one of its kind is trained and used."""

VERDICTS = ((0.9, "sure"), (0.7, "fairly sure"), (0.4, "not sure"), (0.0, "very unsure"))
"""Least confidence, and its words."""

LONGEST = 200
"""Tokens of a sentence, or letters of a word: far more than either model was trained on."""

ROWS = 20
"""Words or sounds whose attention is printed."""


def run(
    text: Annotated[list[str] | None, Argument("English sentence or word.", metavar="TEXT")] = None,
    model: Annotated[
        str, Option("Model to ask.", default="the translator; for one word both", metavar="|".join(TRIAL_MODELS))
    ] = "",
    as_json: Json = False,
) -> None:
    """Try trained models on your own words: English to French, spelling to sound.

    At a terminal, answer each line that is typed, until an empty one. Shows where the model looked for every word or
    sound, and how sure it is. Needs neither a network nor PyTorch.
    """
    if model:
        check_known("--model", model, TRIAL_MODELS)
    typed = not text and is_interactive("-")
    if typed:
        say("Type an English sentence or word; an empty line ends.")
    lines = [" ".join(text)] if text else takewhile(str.strip, typed_texts()) if typed else given_texts("-")
    answered = False
    for line in filter(None, map(str.strip, lines)):
        try:
            for answer in _answers(line, model):
                print_json(answer) if as_json else _show(answer)
                answered = True
        except AnaphoraError as error:
            if not typed:
                raise
            complain(str(error))
    if not (answered or typed):
        raise DataError("There is no text to try: give an English sentence or word.")
    if answered and not as_json:
        name = model or TRIAL_MODELS[0]
        _, options, use = KINDS[name]
        say("Train your own on pairs.tsv: a text, a tab and its answer a line (needs pip install 'anaphora[train]')")
        say(f"  anaphora train --data pairs.tsv {options} --run runs/mine\n  {use} runs/mine")
        say(f"About this model: anaphora info {trial_model(name)}")


def _answers(line: str, model: str) -> Iterator[dict[str, Any]]:
    """Yield what each model that is asked answers, one answer for each word to be spoken.

    The translator knows sentences, which begin with a capital and end with a sign; a text is made one.
    """
    sentence = f"{line[:1].upper()}{line[1:]}{'.' if line[-1:].isalpha() else ''}"
    one_word = len(line.split()) == 1 and any(map(str.isalpha, line))
    for name in (model,) if model else reversed(TRIAL_MODELS) if one_word else TRIAL_MODELS[:1]:
        words = [word.strip('.,;:!?"()[]“”…') for word in line.lower().split()] if name == "spelling" else [sentence]
        for text in list(filter(None, words)) or [line]:
            yield {"model": name, "text": text} | _answer(name, text)


def _answer(name: str, text: str) -> dict[str, Any]:
    from anaphora.evaluation.alignment import SoftLinks

    predictor, known = _load(name)
    translator, begun = getattr(predictor, "translator", predictor), time.perf_counter()
    options = {} if translator is predictor else {"protect": ()}
    [found] = translator.translate_text([text], attention=True, confidence=True, max_tokens=LONGEST, **options)
    seconds = time.perf_counter() - begun
    unknown = [letter for letter in dict.fromkeys(translator.source.plain(text)) if letter not in known]
    if translator is predictor:
        links, words = found.soft_links(), text.split()
    else:  # symbols, which are no parts of words
        words, targets = translator.source.symbols_of(text), found.target_pieces[: found.tokens - found.finished]
        links = SoftLinks(found.source_pieces[:-1], targets, found.weights[: len(targets), :-1])
    for side, whole in ("source", words), ("target", found.text.split()):
        if len(whole) == len(getattr(links, side)):  # with letters in place of the bytes of unknown ones
            links = links._replace(**{side: tuple(whole)})
    sure = -1.0 if found.confidence is None else found.confidence
    verdict = next((words for least, words in VERDICTS if sure >= least), "nothing to translate")
    return {
        "answer": found.text,
        "confidence": found.confidence,
        "verdict": "do not trust this" if unknown else verdict,
        "unknown": unknown,
        "alignment": links.json() if found.tokens else {"source": [], "target": [], "weights": []},
        "seconds": round(seconds, 3),
    }


@cache
def _load(name: str) -> tuple[Any, set[str]]:
    """Return a predictor, and the letters that its vocabulary has."""
    from anaphora.tasks.runs import load
    from anaphora.text.tokenizer import MARKS
    from anaphora.text.words import spellings

    predictor = load(trial_model(name))
    tokens = spellings(predictor.source)[len(MARKS) :]
    return predictor, {" ", *"".join(token for token in tokens if not token.startswith("<"))}


def _show(answer: dict[str, Any]) -> None:
    show(f"{KINDS[answer['model']][0] or answer['text']:<7} {answer['answer'] or '(nothing)'}")
    number = "" if answer["confidence"] is None or answer["unknown"] else f" ({answer['confidence']:.0%})"
    reason = f", for the model does not know {' '.join(answer['unknown'])}" if answer["unknown"] else ""
    show(f"{'':<8}{answer['verdict']}{number}{reason}; {answer['seconds']:.2f} s")
    source, target, weights = answer["alignment"].values()
    for word, row in list(zip(target, weights, strict=True))[:ROWS]:
        most = sorted(zip(row, source, strict=True), key=lambda one: -one[0])[:3]
        seen = ", ".join(f"{name} {weight:.0%}" for weight, name in most if weight >= 0.1)
        show(f"  {word:<{min(16, max(map(len, target)))}} <- {seen or 'the end of the text'}")
    if len(target) > ROWS:
        show(f"  and {len(target) - ROWS:,} more, which --json has")
