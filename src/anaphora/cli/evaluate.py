"""``anaphora evaluate``: how good a run is, or which of two is better, in figures that can be cited."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from anaphora.cli.opening import check_writable
from anaphora.cli.options import (
    Beam,
    Dictionary,
    DynamicOption,
    FusionWeight,
    Json,
    KnownWords,
    LanguageModelRun,
    LengthPenalty,
    Mean,
    NeuralCacheOption,
    ReplaceUnknown,
    Threads,
    adaptation_of,
    fusion_of,
    known_mean,
    replacements_of,
    use_threads,
)
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.evaluation.bleu import Score
    from anaphora.evaluation.breakdown import Groups
    from anaphora.evaluation.significance import Comparison
    from anaphora.experiment.assess import Results

EXAMPLES = (
    "anaphora evaluate runs/en-de",
    "anaphora evaluate runs/en-de --source test.en --reference test.de --details --json",
    "anaphora evaluate runs/en-de runs/en-de-larger --output sentences.jsonl",
    "anaphora evaluate runs/en-de-1 runs/en-de-2 runs/en-de-3 --ensemble",
    "anaphora evaluate runs/words --replace-unknown --dictionary en-de.tsv",
    "anaphora evaluate runs/en-de --language-model runs/german --fusion-weight 0.1",
    "anaphora evaluate runs/book --text other.txt",
    "anaphora evaluate runs/ptb-lstm --neural-cache 2000",
    "anaphora evaluate runs/ptb-lstm --dynamic 0",
)


def run(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="A run folder; or two translators, to be compared on the same text."),
    ],
    source: Annotated[Path | None, typer.Option(help="Text to translate (for a translator).")] = None,
    reference: Annotated[Path | None, typer.Option(help="Its translation by people.")] = None,
    text: Annotated[Path | None, typer.Option(help="Text to predict (for a language model).")] = None,
    ensemble: Annotated[
        bool, typer.Option("--ensemble", help="Evaluate several translators together, as one.")
    ] = False,
    mean: Mean = "",
    language_model: LanguageModelRun = None,
    fusion_weight: FusionWeight = None,
    neural_cache: NeuralCacheOption = "",
    dynamic: DynamicOption = "",
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    replace_unknown: ReplaceUnknown = False,
    dictionary: Dictionary = None,
    known_words: KnownWords = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also by the source's length, and by words that training never showed.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write every sentence with its figures here, a JSON object a line.")
    ] = None,
    keep: Annotated[bool, typer.Option(help="Add the figures to the run folder and its card.")] = True,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Score a run on given text, or on the test parts that it was configured with."""
    _check_texts(source, reference, text)
    fusion, adaptation = fusion_of(language_model, fusion_weight), adaptation_of(neural_cache, dynamic)
    _check_number(runs, ensemble, mean, text is not None or bool(neural_cache or dynamic), fusion is not None)
    together = ensemble or fusion is not None
    check_writable(output)
    use_threads(threads)

    from anaphora.experiment.assess import Search
    from anaphora.experiment.details import groups_of

    if (details or output) and _predicts_text(runs[0]):
        raise ConfigError(f"--details and --output are for translations, but {runs[0]} is a language model.")
    search = Search(beam, length_penalty, replacements_of(replace_unknown, dictionary), known_words)
    pairs = (source, reference) if source is not None and reference is not None else None
    options: dict[str, Any] = {"search": search, "pairs": pairs}
    if together:
        options |= {"mean": known_mean(mean, len(runs)), "fusion": fusion}
    else:
        options |= {"keep": keep} | ({"text": text, "adaptation": adaptation} if len(runs) == 1 else {})
    name = " + ".join(map(str, [*runs, *(fusion or ())[:1]])) if together else ""
    with listening() as report:
        found, compared = _assessed(runs, together, options | {"report": report})
        groups = [groups_of(path, result, report) if details else {} for path, result in found]
    scored = [_Scored(name or str(path), result, of) for (path, result), of in zip(found, groups, strict=True)]
    _write(output, scored)
    (_print_json if as_json else _print)(scored, compared)


def _check_texts(source: Path | None, reference: Path | None, text: Path | None) -> None:
    """Refuse half a pair of texts, and texts of two kinds."""
    if (source is None) != (reference is None):
        raise ConfigError("--source and --reference belong together, but only one of them was given.")
    if source is not None and text is not None:
        raise ConfigError("--source and --reference are for translators and --text for language models: give one kind.")


def _check_number(runs: list[Path], ensemble: bool, mean: str, of_text: bool, fused: bool) -> None:
    """Refuse more or fewer runs than the options are for."""
    if of_text and (fused or len(runs) > 1):
        raise ConfigError(
            "--text, --neural-cache and --dynamic are for one language model, but several runs came: evaluate it alone."
        )
    if len(runs) > 2 and not ensemble:
        raise ConfigError(f"Two runs can be compared, but {len(runs)} came: leave some out, or add --ensemble.")
    if fused and len(runs) > 1 and not ensemble:
        raise ConfigError("Runs are compared without a language model: add --ensemble, or leave --language-model out.")
    if (ensemble and len(runs) == 1) or (mean and not ensemble):
        raise ConfigError("--ensemble takes two runs or more, and --mean belongs to it: name more runs, or leave both.")


def _predicts_text(run: Path) -> bool:
    from anaphora.experiment.conduct import experiment_of
    from anaphora.pipeline.arpa import is_arpa

    return is_arpa(run) or experiment_of(run).task == "language-model"


def _assessed(
    runs: list[Path], together: bool, options: dict[str, Any]
) -> "tuple[list[tuple[Path, Results]], dict[str, list[Comparison]]]":
    """The figures of each run, or of all as one; and how two compare."""
    from anaphora.experiment.assess import assess, assess_both, assess_ensemble

    if together:
        return [(runs[0], assess_ensemble(runs, **options))], {}
    if len(runs) == 1:
        return [(runs[0], assess(runs[0], **options))], {}
    *both, compared = assess_both(runs[0], runs[1], **options)
    return list(zip(runs, both, strict=True)), compared


class _Scored(NamedTuple):
    """One run or ensemble, its figures by part, and the groups that are scored by themselves."""

    name: str
    results: "Results"
    groups: "Mapping[str, Groups]"

    def rows(self, part: str) -> "list[tuple[str, int, Score, Score]]":
        """Name, sentences, BLEU and chrF of every group of a part."""
        from anaphora.experiment.translation_scores import TranslationScores

        result = self.results[part]
        if not isinstance(result, TranslationScores):
            return []
        scores = result.of_groups(self.groups.get(part, {}))
        return [(name, count, bleu, chrf) for name, (count, (bleu, chrf)) in scores.items()]

    def json(self) -> dict[str, Any]:
        """Everything, for ``json.dumps``."""
        parts: dict[str, Any] = {}
        for part, result in self.results.items():
            groups = {
                name: {"sentences": count, "bleu": bleu.json(), "chrf": chrf.json()}
                for name, count, bleu, chrf in self.rows(part)
            }
            parts[part] = result.json() | ({"groups": groups} if groups else {})
        return {"run": self.name, "parts": parts}


def _print_json(scored: list[_Scored], compared: "Mapping[str, list[Comparison]]") -> None:
    answer = scored[0].json()
    if len(scored) > 1:
        comparison = {part: [one.json() for one in found] for part, found in compared.items()}
        answer |= {"second": scored[1].json(), "comparison": comparison}
    typer.echo(json.dumps(answer, ensure_ascii=False))


def _print(scored: list[_Scored], compared: "Mapping[str, list[Comparison]]") -> None:
    for one in scored:
        if len(scored) > 1:
            typer.secho(one.name, bold=True)
        for part, result in one.results.items():
            typer.echo(f"{part}\n{result}")
            for name, count, bleu, chrf in one.rows(part):
                figures = f"BLEU {bleu.value:6.2f}  chrF2 {chrf.value:6.2f}  ({bleu.condition})"
                typer.echo(f"  {name:<20} {count:>7,} sentences  {figures}")
    for part, comparisons in compared.items():
        typer.secho(f"{part}: {scored[0].name} against {scored[1].name}", bold=True)
        for comparison in comparisons:
            typer.echo(comparison)


def _write(output: Path | None, scored: list[_Scored]) -> None:
    """Every sentence of every part and run, a JSON object a line, where there is a file for it."""
    if output is None:
        return
    from anaphora.experiment.translation_scores import TranslationScores
    from anaphora.formats.lines import write_lines

    lines = (
        line
        for one in scored
        for part, result in one.results.items()
        if isinstance(result, TranslationScores)
        for line in result.sentence_lines(run=one.name, part=part)
    )
    write_lines(output, lines)
