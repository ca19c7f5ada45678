"""A dated report for people, and the raw numbers beside it as JSON lines."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from statistics import median

from anaphora.formats.lines import replacing
from benchmarks.compare import Comparison
from benchmarks.machine import Machine
from benchmarks.work import Precision, Sample, Setting

FOLDER = Path(__file__).parent / "reports"

Parts = Mapping[Precision, Mapping[str, float]]
"""Seconds of an update by precision and part."""


def write(
    machine: Machine,
    setting: Setting,
    proven: str,
    comparisons: Sequence[Comparison],
    parts: Parts,
    command: str,
    *,
    change: str = "",
    folder: Path = FOLDER,
) -> Path:
    """Write both files and return the report's path; one of the same day, machine and works is replaced.

    ``change`` says what changed since the last one.
    """
    names = list(dict.fromkeys(comparison.work.name for comparison in comparisons))
    works = "-".join(names) if len(names) < 3 else "engine"
    path = folder / f"{date.today()}-{works}-{machine.slug}.md"
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as out:
        out.write("\n".join(_page(machine, setting, proven, comparisons, parts, command)).encode())
    with replacing(path.with_suffix(".jsonl")) as out:
        for line in _lines(machine, setting, proven, comparisons, parts, change):
            out.write(f"{json.dumps(line, sort_keys=True)}\n".encode())
    return path


def _page(
    machine: Machine, setting: Setting, proven: str, comparisons: Sequence[Comparison], parts: Parts, command: str
) -> Iterable[str]:
    yield from (
        "# The engine beside its peers",
        "",
        f"{date.today()}, {machine}. {setting.threads} threads, seed {setting.seed}. Proofs before: {proven}",
        "",
        f"    {command}",
        "",
    )
    if machine.busy:
        yield f"**Other work ran on the machine (load {machine.load:.1f} before the start): no figure here counts.**"
        yield ""
    yield from (
        "Units a second, the median of several runs in alternation and in brackets the lowest and the highest; the",
        "ratio is the median of the ratios of neighbouring runs. The raw numbers lie beside this file.",
        "",
        "| work | precision | unit | ours | peer | ratio | bar |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    )
    for c in comparisons:
        asked = c.work.bars[c.precision]
        bar = f"{asked:g}{'' if c.reached else ' (missed)'}" if asked else "-"
        ours, theirs = (_spread([sample.rate for sample in side]) for side in (c.ours, c.theirs))
        yield f"| {c.work.name} | {c.precision} | {c.work.unit} | {ours} | {theirs} | {_spread(c.ratios)} | {bar} |"
    yield ""
    for c in (c for c in comparisons if c.disturbed):
        yield f"**{c.work.name}: other programs ran beside {c.disturbed} of {len(c.ours)} rounds, three times each.**"
        yield ""
    for c in {c.work.name: c for c in comparisons}.values():
        agreed = ", ".join(f"{number:,.0f} {what}" for what, number in c.ours[0].size.items())
        yield f"- **{c.work.name}**: {c.work.measures}; beside {c.work.peer}." + (f" Ours: {agreed}." if agreed else "")
    yield from (
        "",
        "Peak memory of a process, MiB:",
        "",
        "| work | precision | ours | peer |",
        "| --- | --- | --- | --- |",
    )
    for c in comparisons:
        yield f"| {c.work.name} | {c.precision} | {_peak(c.ours):,.0f} | {_peak(c.theirs):,.0f} |"
    for precision, seconds_of in parts.items():
        whole = sum(seconds_of.values())
        yield from ("", f"Where an update of translator-lstm-512 goes in {precision}, each part timed alone:", "")
        yield from ("| part | ms | share |", "| --- | --- | --- |")
        for part, seconds in seconds_of.items():
            yield f"| {part} | {1000 * seconds:,.1f} | {seconds / whole:.0%} |"
        yield f"| whole | {1000 * whole:,.1f} | |"
    yield ""


def _lines(
    machine: Machine, setting: Setting, proven: str, comparisons: Sequence[Comparison], parts: Parts, change: str
) -> Iterable[Mapping[str, object]]:
    head = {"machine": asdict(machine), "setting": asdict(setting), "date": str(date.today()), "proofs": proven}
    yield head | {"change": change}
    for c in comparisons:
        for side, samples in (("ours", c.ours), ("peer", c.theirs)):
            for number, sample in enumerate(samples, 1):
                yield {
                    "work": c.work.name,
                    "precision": c.precision,
                    "unit": c.work.unit,
                    "side": side,
                    "round": number,
                    **sample._asdict(),
                }
    if parts:
        yield {"seconds_of_an_update_by_part": parts}


def _spread(rates: Sequence[float]) -> str:
    low, middle, high = (f"{number:,.3g}" if number < 100 else f"{number:,.0f}" for number in _three(rates))
    return f"{middle} ({low}..{high})"


def _three(rates: Sequence[float]) -> tuple[float, float, float]:
    return min(rates), median(rates), max(rates)


def _peak(samples: Sequence[Sample]) -> float:
    return max(sample.peak_mib for sample in samples)
