"""``anaphora evaluate``: how good a run is, or which of two is better, in figures that can be cited."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from anaphora.cli.files import check_writable
from anaphora.cli.options import (
    Beam,
    CandidatesOption,
    Dictionary,
    DynamicOption,
    Each,
    Frequent,
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
    candidates_of,
    fusion_of,
    known_mean,
    replacements_of,
    use_threads,
)
from anaphora.cli.progress import listening
from anaphora.errors import ConfigError

if TYPE_CHECKING:
    from anaphora.evaluation.adaptation import Adaptation
    from anaphora.evaluation.bleu import Score
    from anaphora.evaluation.breakdown import Groups
    from anaphora.evaluation.significance import Comparison
    from anaphora.experiment.scoring.keeping import Results
    from anaphora.experiment.scoring.search import Search

EXAMPLES = (
    "anaphora evaluate runs/en-de",
    "anaphora evaluate runs/en-de --source test.en --reference test.de --details --json",
    "anaphora evaluate runs/en-de runs/en-de-larger --output sentences.jsonl",
    "anaphora evaluate runs/en-de-1 runs/en-de-2 runs/en-de-3 --ensemble",
    "anaphora evaluate runs/words --replace-unknown --dictionary en-de.tsv",
    "anaphora evaluate runs/words --candidates en-de.tsv --frequent 2000 --each 10",
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
    reference: Annotated[Path | None, typer.Option(help="The reference translation.")] = None,
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
    candidates: CandidatesOption = None,
    frequent: Frequent = None,
    each: Each = None,
    known_words: KnownWords = False,
    details: Annotated[
        bool, typer.Option("--details", help="Also by the source's length, and by words that training never showed.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Write every sentence with its figures here, a JSON object a line.")
    ] = None,
    keep: Annotated[
        bool, typer.Option(help="Add the figures of runs by themselves to their folders and cards.")
    ] = True,
    as_json: Json = False,
    threads: Threads = 0,
) -> None:
    """Score a run on given text, or on the test parts that it was configured with."""
    pairs = _pairs(source, reference, text)
    fusion, adapted = fusion_of(language_model, fusion_weight), adaptation_of(neural_cache, dynamic)
    _check_number(runs, ensemble, mean, text is not None or bool(neural_cache or dynamic), fusion is not None)
    check_writable(output, read=[*runs, language_model, source, reference, text, dictionary, candidates])
    use_threads(threads)

    from anaphora.experiment.scoring.search import Search

    if details or output:
        _check_translates(runs[0])
    words, chosen = replacements_of(replace_unknown, dictionary), candidates_of(candidates, frequent, each)
    search = Search(beam, length_penalty, words, chosen, known_words)
    asked = _Asked(pairs, text, search, adapted, fusion, ensemble or fusion is not None, mean, keep, details)
    scored, compared = _scored(runs, asked)
    _write(output, scored)
    if as_json:
        _print_json(scored, compared)
    else:
        _print(scored, compared, named=asked.together or len(runs) > 1)


def _pairs(source: Path | None, reference: Path | None, text: Path | None) -> tuple[Path, Path] | None:
    """A pair of texts, where one was given; half a pair and texts of two kinds are refused."""
    if (source is None) != (reference is None):
        raise ConfigError("--source and --reference belong together, but only one of them was given.")
    if source is None or reference is None:
        return None
    if text is not None:
        raise ConfigError("--source and --reference are for translators and --text for language models: give one kind.")
    return source, reference


def _check_number(runs: list[Path], ensemble: bool, mean: str, of_text: bool, fused: bool) -> None:
    """Refuse more or fewer runs than the options are for."""
    if of_text and fused:
        raise ConfigError(
            "--text, --neural-cache and --dynamic are for a language model, and --language-model is for a translator "
            "that it helps: leave one or the other out."
        )
    if of_text and len(runs) > 1:
        raise ConfigError(
            "--text, --neural-cache and --dynamic are for one language model, but several runs were given: evaluate it "
            "alone."
        )
    if len(runs) > 2 and not ensemble:
        raise ConfigError(f"Two runs can be compared, but {len(runs)} were given: leave some out, or add --ensemble.")
    if fused and len(runs) > 1 and not ensemble:
        raise ConfigError("Runs are compared without a language model: add --ensemble, or leave --language-model out.")
    if (ensemble and len(runs) == 1) or (mean and not ensemble):
        raise ConfigError("--ensemble takes two runs or more, and --mean belongs to it: name more runs, or leave both.")


def _check_translates(run: Path) -> None:
    from anaphora.experiment.conduct import experiment_of
    from anaphora.pipeline.arpa import is_arpa

    if is_arpa(run) or experiment_of(run).task == "language-model":
        raise ConfigError(f"--details and --output are for translations, but {run} is a language model.")


class _Scored(NamedTuple):
    """One run or ensemble, its figures by part, and the groups that are scored by themselves."""

    name: str
    results: "Results"
    groups: "Mapping[str, Groups]"

    def rows(self, part: str) -> "list[tuple[str, int, Score, Score]]":
        """Name, sentences, BLEU and chrF of every group of a part."""
        from anaphora.experiment.scoring.translation_scores import TranslationScores

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


class _Asked(NamedTuple):
    """What runs are scored on, and how."""

    pairs: tuple[Path, Path] | None
    text: Path | None
    search: "Search"
    adaptation: "Adaptation"
    fusion: tuple[Path, float] | None
    together: bool
    """Whether all runs are scored as one."""
    mean: str
    keep: bool
    details: bool


def _scored(runs: list[Path], asked: _Asked) -> "tuple[list[_Scored], dict[str, list[Comparison]]]":
    """The figures of every run, or of all of them as one; and how two compare."""
    from anaphora.experiment.scoring.assess import assess, assess_both, assess_ensemble
    from anaphora.experiment.scoring.details import groups_of

    pairs, text, search, adapted, fusion, together, mean, keep, details = asked
    names, first = [str(path) for path in runs], runs[0]
    compared: dict[str, list[Comparison]] = {}
    with listening() as report:
        if together:
            how = known_mean(mean, len(runs))
            found = [assess_ensemble(runs, mean=how, fusion=fusion, pairs=pairs, search=search, report=report)]
            names = [_together(names, how, fusion)]
        elif len(runs) == 1:
            found = [assess(first, pairs=pairs, text=text, search=search, adaptation=adapted, keep=keep, report=report)]
        else:
            *found, compared = assess_both(first, runs[1], pairs=pairs, search=search, keep=keep, report=report)
        groups = [groups_of(path, result, report) if details else {} for path, result in zip(runs, found, strict=False)]
    return [_Scored(*one) for one in zip(names, found, groups, strict=True)], compared


def _together(names: list[str], mean: str, fusion: tuple[Path, float] | None) -> str:
    """What runs that translate as one are called: with all that changes what they write."""
    translators = f"{mean} mean of {' + '.join(names)}" if len(names) > 1 else names[0]
    return translators if fusion is None else f"{translators} + {fusion[1]:g} x {fusion[0]}"


def _print_json(scored: list[_Scored], compared: "Mapping[str, list[Comparison]]") -> None:
    from anaphora.formats.figures import figures_as_json

    answer = scored[0].json()
    if len(scored) > 1:
        comparison = {part: [one.json() for one in found] for part, found in compared.items()}
        answer |= {"second": scored[1].json(), "comparison": comparison}
    typer.echo(figures_as_json(answer))


def _print(scored: list[_Scored], compared: "Mapping[str, list[Comparison]]", *, named: bool) -> None:
    for one in scored:
        if named:
            typer.secho(one.name, bold=True)
        for part, result in one.results.items():
            typer.echo(f"{part}\n{result}")
            for name, count, bleu, chrf in one.rows(part):
                figures = f"BLEU {bleu.value:6.2f}  chrF2 {chrf.value:6.2f}  ({bleu.condition})"
                typer.echo(f"  {name:<24} {count:>7,} sentences  {figures}")
    for part, comparisons in compared.items():
        typer.secho(f"{part}: {scored[0].name} against {scored[1].name}", bold=True)
        for comparison in comparisons:
            typer.echo(comparison)


def _write(output: Path | None, scored: list[_Scored]) -> None:
    """Every sentence of every part and run, a JSON object a line, where there is a file for it."""
    if output is None:
        return
    from anaphora.experiment.scoring.translation_scores import TranslationScores
    from anaphora.formats.lines import write_lines

    lines = (
        line
        for one in scored
        for part, result in one.results.items()
        if isinstance(result, TranslationScores)
        for line in result.sentence_lines(run=one.name, part=part)
    )
    write_lines(output, lines)
