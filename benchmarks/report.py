"""A dated report for people, and the raw numbers beside it as JSON lines."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from statistics import median

from anaphora.formats.replacing import replacing
from benchmarks.compare import Comparison
from benchmarks.machine import Machine
from benchmarks.work import Sample, Setting

FOLDER = Path(__file__).parent / "reports"


def write(
    machine: Machine,
    setting: Setting,
    proven: str,
    comparisons: Sequence[Comparison],
    parts: Mapping[str, float],
    command: str,
    folder: Path = FOLDER,
) -> Path:
    """Write both files and return the report's path; one of the same day, machine and works is replaced."""
    works = "-".join(comparison.work.name for comparison in comparisons) if len(comparisons) < 3 else "engine"
    path = folder / f"{date.today()}-{works}-{machine.slug}.md"
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(path) as out:
        out.write("\n".join(_page(machine, setting, proven, comparisons, parts, command)).encode())
    with replacing(path.with_suffix(".jsonl")) as out:
        for line in _lines(machine, setting, proven, comparisons, parts):
            out.write(f"{json.dumps(line, sort_keys=True)}\n".encode())
    return path


def _page(
    machine: Machine,
    setting: Setting,
    proven: str,
    comparisons: Sequence[Comparison],
    parts: Mapping[str, float],
    command: str,
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
        "| work | unit | ours | peer | ratio | bar |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for c in comparisons:
        bar = f"{c.work.bar:g}{'' if c.reached else ' (missed)'}" if c.work.bar else "-"
        ours, theirs = (_spread([sample.rate for sample in side]) for side in (c.ours, c.theirs))
        yield f"| {c.work.name} | {c.work.unit} | {ours} | {theirs} | {_spread(c.ratios)} | {bar} |"
    yield ""
    for c in comparisons:
        agreed = ", ".join(f"{number:,.0f} {what}" for what, number in c.ours[0].size.items())
        yield f"- **{c.work.name}**: {c.work.measures}; beside {c.work.peer}." + (f" Ours: {agreed}." if agreed else "")
    yield from ("", "Peak memory of a process, MiB:", "", "| work | ours | peer |", "| --- | --- | --- |")
    for c in comparisons:
        yield f"| {c.work.name} | {_peak(c.ours):,.0f} | {_peak(c.theirs):,.0f} |"
    if parts:
        whole = sum(parts.values())
        yield from ("", "Where an update of translator-lstm-512 goes, each part timed alone:", "")
        yield from ("| part | ms | share |", "| --- | --- | --- |")
        for part, seconds in parts.items():
            yield f"| {part} | {1000 * seconds:,.1f} | {seconds / whole:.0%} |"
        yield f"| whole | {1000 * whole:,.1f} | |"
    yield ""


def _lines(
    machine: Machine,
    setting: Setting,
    proven: str,
    comparisons: Sequence[Comparison],
    parts: Mapping[str, float],
) -> Iterable[Mapping[str, object]]:
    yield {"machine": asdict(machine), "setting": asdict(setting), "date": str(date.today()), "proofs": proven}
    for c in comparisons:
        for side, samples in (("ours", c.ours), ("peer", c.theirs)):
            for number, sample in enumerate(samples, 1):
                yield {"work": c.work.name, "unit": c.work.unit, "side": side, "round": number, **sample._asdict()}
    if parts:
        yield {"seconds_of_an_update_by_part": dict(parts)}


def _spread(rates: Sequence[float]) -> str:
    low, middle, high = (f"{number:,.3g}" if number < 100 else f"{number:,.0f}" for number in _three(rates))
    return f"{middle} ({low}..{high})"


def _three(rates: Sequence[float]) -> tuple[float, float, float]:
    return min(rates), median(rates), max(rates)


def _peak(samples: Sequence[Sample]) -> float:
    return max(sample.peak_mib for sample in samples)
