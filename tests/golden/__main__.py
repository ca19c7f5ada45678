"""``python -m tests.golden [SCENE..]``: compare the answers of stored and of new runs with those in ``answers.json``.

With RECORD=1 it records them anew, and with KEEP=FOLDER it writes each into a file there, so that the answers of two
commits can be compared in full. Long answers are recorded as a digest and their beginning.
"""

import difflib
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("answers.json")
LONGEST = 2500
"""Characters of an answer that is recorded in full."""
SHOWN = 12
FIXED = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MKL_CBWR": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "TZ": "UTC",
}
"""Threads and instruction set, of this process and those that it starts."""


def main(asked: list[str]) -> int:
    """Compare or record; return 1 where an answer differs, and 2 where nothing can be compared."""
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {"environment": {}, "keys": {}, "answers": {}}
    if os.environ.get("RECORD"):
        if subprocess.run(["git", "diff", "--quiet", "HEAD", "--", "src"]).returncode:
            print("Answers are never recorded anew beside a change of src: commit or undo that first.")
            return 2
    elif (here := environment()) != recorded["environment"]:
        print(f"Recorded with {recorded['environment']}\nbut this is     {here}.")
        print(f"Check out the commit of {RECORDED.name}, record there with make golden RECORD=1, and take that file.")
        return 2
    found = answers(asked)
    if folder := os.environ.get("KEEP"):
        keep(found, Path(folder))
    failed = {name: answer for name, answer in found.items() if answer.startswith("FAILED")}
    if os.environ.get("RECORD"):
        for name, answer in failed.items():
            print(f"{name}\n{answer}")
        if not failed:
            kept = {name: brief(answer) for name, answer in sorted(found.items())}
            table = {"environment": environment(), "keys": {}, "answers": recorded["answers"] | kept if asked else kept}
            RECORDED.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
        return int(bool(failed))
    before = {
        name: answer for name, answer in recorded["answers"].items() if not asked or name.partition(": ")[0] in asked
    }
    return report(before, {name: brief(renamed(answer, recorded["keys"])) for name, answer in found.items()})


def environment() -> dict[str, str]:
    """Return what the last bits of an answer depend on, besides what is fixed."""
    vendor = re.search(r"vendor_id\s*: (\w+)", Path("/proc/cpuinfo").read_text()) if os.name == "posix" else None
    packages = "torch", "numpy", "sentencepiece", "sacrebleu"
    return {"processor": f"{platform.machine()} {vendor[1] if vendor else ''}, AVX2"} | {
        name: version(name) for name in packages
    }


def answers(asked: list[str]) -> dict[str, str]:
    os.environ.update(FIXED)
    from tests.golden.stored import SCENES, answers_of

    names = [name for name in SCENES if not asked or name in asked]
    if os.environ.get("ORDER") == "reversed":
        names.reverse()
    found: dict[str, str] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        for name, some in zip(names, processes.map(answers_of, names), strict=True):
            print(f"{name}: {len(some)} answers", file=sys.stderr)
            found |= some
    return found


def renamed(answer: str, keys: Mapping[str, str]) -> str:

    def keyed(value: Any) -> Any:
        if isinstance(value, dict):
            return {keys.get(key, key): keyed(one) for key, one in value.items()}
        return [keyed(one) for one in value] if isinstance(value, list) else value

    def line(text: str) -> str:
        if not text.startswith(("{", "[")) or not any(f'"{key}"' in text for key in keys):
            return text
        try:
            return json.dumps(keyed(json.loads(text, parse_float=str)), ensure_ascii=False, sort_keys=True)
        except ValueError:
            return text

    return "\n".join(map(line, answer.split("\n"))) if keys else answer


def brief(answer: str) -> str:
    if len(answer) <= LONGEST:
        return answer
    digest = hashlib.sha256(answer.encode()).hexdigest()[:20]
    return f"{answer[:160]}.. {len(answer)} characters, {digest}"


def report(before: Mapping[str, str], now: Mapping[str, str]) -> int:
    """Print the answers that differ; return 1 for any."""
    different = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    for name in different:
        print(f"\n{name}")
        if name not in before or name not in now:
            print("  is recorded, but no longer answered" if name in before else "  is answered, but not recorded")
            continue
        lines = list(difflib.unified_diff(before[name].splitlines(), now[name].splitlines(), n=0, lineterm=""))[2:]
        print("\n".join(f"  {line[:300]}" for line in lines[:SHOWN]))
    print(f"{len(different)} of {len({*before, *now})} answers differ.")
    return int(bool(different))


def keep(found: Mapping[str, str], folder: Path) -> None:
    for name, answer in found.items():
        file = folder / name.replace("/", "-").replace(": ", "/").replace(" ", "-")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(answer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
