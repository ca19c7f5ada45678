"""A table as people read it: a row a system, mean and spread over the seeds, and of each finding whether it holds."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, stdev

from benchmarks.reproduce.queue import Result
from benchmarks.reproduce.table import Finding, Table

COLUMNS = (
    ("bleu", "BLEU", ".1f"),
    ("chrf", "chrF2", ".1f"),
    ("bleu ahead, at least", "BLEU ahead, 95 %: at least", "+.1f"),
    ("bleu ahead, at most", "at most", "+.1f"),
    ("perplexity", "perplexity", ".1f"),
    ("word errors", "wrong words, %", ".1f"),
    ("without", "without stress", ".1f"),
    ("bits per character", "bits a character", ".3f"),
    ("bleu, of known words", "BLEU, known words only", ".1f"),
    ("unknown words", "unknown words", ",.0f"),
    ("links", "links, F1", ".1f"),
    ("links, repeated words", "of repeated words", ".1f"),
    ("validation perplexity", "validation perplexity", ".2f"),
    ("diverged", "diverged", ".0f"),
    ("parameters", "parameters", ",.0f"),
    ("updates", "updates", ",.0f"),
    ("training seconds", "training, s", ",.0f"),
    ("processor seconds", "of the processor", ",.0f"),
    ("sentences a second", "sentences a second", ",.0f"),
)
"""A figure, what its column is called, and how it is written."""


def page(name: str, table: Table, results: Sequence[Result]) -> str:
    """The table of a name in Markdown; figures that no system has get no column."""
    by_system: dict[str, list[Result]] = {}
    for result in results:
        by_system.setdefault(result.system, []).append(result)
    lines = [f"# {table.title}", "", _origin(name, results), ""]
    lines += [*_rows(table, by_system), "", *_by_length(table, by_system)]
    if table.findings:
        lines += ["", "| finding | by | difference, seed by seed | holds |", "| --- | --- | --- | --- |"]
        lines += [_finding(finding, by_system) for finding in table.findings]
    return "\n".join(lines).rstrip() + "\n"


def _origin(name: str, results: Sequence[Result]) -> str:
    """How, where and when the figures were made."""
    dates = sorted({result.date for result in results})
    when = " to ".join(dict.fromkeys((dates[0], dates[-1])))
    where = " and on ".join(sorted({result.machine.partition(";")[0] for result in results}))
    return (
        f"`make reproduce TABLES={name}`, by [these settings](../tables/{name}.toml), {when}, on {where}; "
        f"[every result]({name}.jsonl) with its versions."
    )


def _rows(table: Table, by_system: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    columns = [
        column for column in COLUMNS if any(column[0] in r.figures for found in by_system.values() for r in found)
    ]
    yield "| " + " | ".join(["system", "seeds", *(title for _, title, _ in columns)]) + " |"
    yield "| " + " | ".join(["---"] * (len(columns) + 2)) + " |"
    for system in table.systems:
        found = by_system.get(system.name, ())
        cells = [_spread([r.figures[name] for r in found if name in r.figures], form) for name, _, form in columns]
        yield "| " + " | ".join([system.name, str(len(found)), *cells]) + " |"


def _by_length(table: Table, by_system: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """BLEU by the length of the source, where it was measured."""
    every = (name for found in by_system.values() for result in found for name in result.figures)
    groups = [name for name in dict.fromkeys(every) if name.startswith("bleu, source")]
    if not groups:
        return
    yield "| BLEU by length | " + " | ".join(group.removeprefix("bleu, ") for group in groups) + " |"
    yield "| " + " | ".join(["---"] * (len(groups) + 1)) + " |"
    for system in table.systems:
        found = by_system.get(system.name, ())
        cells = [_spread([r.figures[group] for r in found if group in r.figures], ".1f") for group in groups]
        yield "| " + " | ".join([system.name, *cells]) + " |"


def _spread(values: Sequence[float], form: str) -> str:
    if not values:
        return "-"
    if len(values) == 1 or max(values) == min(values):
        return f"{values[0]:{form}}"
    return f"{mean(values):{form}} ± {stdev(values):{form.removeprefix('+')}}"


def _finding(finding: Finding, by_system: Mapping[str, Sequence[Result]]) -> str:
    """What was found of the two, under every seed that both were trained under.

    A figure that is a difference already is a bound over draws of the test sentences, of which one seed has many.
    """
    system, beside = (
        {r.seed: r.figures[finding.figure] for r in by_system.get(name, ()) if finding.figure in r.figures}
        for name in (finding.system, finding.beside)
    )
    if not finding.beside:
        beside = dict.fromkeys(system, 0.0)
    seeds = sorted(system.keys() & beside.keys())
    differences = [system[seed] - beside[seed] for seed in seeds]
    written = ", ".join(f"{difference:+.2f}" for difference in differences) or "not measured"
    if len(differences) < (2 if finding.beside else 1):
        verdict = "open"
    elif finding.wanted == "same":
        spread = max(stdev(figures[seed] for seed in seeds) for figures in (system, beside))
        verdict = "yes" if abs(mean(differences)) <= spread else "no"
    else:
        verdict = _sided(differences, 1 if finding.wanted == "higher" else -1)
    return f"| {finding.claim} | {finding.figure} | {written} | {verdict} |"


def _sided(differences: Sequence[float], sign: int) -> str:
    """Whether all differences have a sign."""
    if all(sign * difference > 0 for difference in differences):
        return "yes"
    return "no" if all(sign * difference <= 0 for difference in differences) else "by some seeds only"
