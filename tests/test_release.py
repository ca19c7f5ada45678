"""What a release needs beside its packages: a workflow, a container file, a citation, and the checks before it."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anaphora
from anaphora.kernels.compiled.library import available
from tests.package import ROOT
from tests.site import COMMANDS

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.citation-file-format", [ROOT / "CITATION.cff"])],
    ids=["workflows", "citation"],
)
def test_a_file_for_others_has_the_form_that_they_expect(schema: str, files: list[Path]) -> None:
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert files and not done.returncode, done.stdout + done.stderr


def test_a_workflow_gives_no_job_more_rights_than_it_needs() -> None:
    yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
    for path in WORKFLOWS:
        workflow = yaml.load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        rights = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
        assert rights in ({}, {"publish": {"id-token": "write", "attestations": "write"}})
        assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_the_citation_is_of_this_version() -> None:
    page = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    values = {"version": anaphora.__version__, "license": project["license"], "abstract": project["description"]}
    assert [f"{key}: {value}" for key, value in values.items() if f"\n{key}: {value}\n" not in page] == []
    assert page.endswith("keywords:\n" + "".join(f"  - {word}\n" for word in project["keywords"]))


def test_the_container_serves_as_an_ordinary_user_from_files_that_are_there() -> None:
    text = re.sub(r" \\\n", " ", (ROOT / "Containerfile").read_text(encoding="utf-8"))
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    by_name = {name: [rest for other, rest in steps if other == name] for name, _ in steps}
    assert set(by_name) == {"FROM", "RUN", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"}
    assert all(re.fullmatch(r"[a-z]+:[\w.-]+", image) and "latest" not in image for image in by_name["FROM"])
    assert [name for name, _ in steps].index("USER") > max(i for i, step in enumerate(steps) if step[0] == "RUN")
    assert all(int(number) > 0 for user in by_name["USER"] for number in user.split(":"))
    *copied, _ = by_name["COPY"][0].split()
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line.startswith("!")]
    assert {name.split("/")[0] for name in copied} == set(kept)
    program, verb, *arguments = json.loads(by_name["ENTRYPOINT"][0]) + json.loads(by_name["CMD"][0])
    assert program == "anaphora"
    assert COMMANDS[verb].make_context(verb, arguments).params["host"] == "0.0.0.0"


@pytest.mark.skipif(not available(), reason="the library was not built: there is no C compiler")
def test_the_check_of_a_wheel_passes_here() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [check] = re.findall("python -c '(.*)'", project["tool"]["cibuildwheel"]["test-command"])
    exec(check, {})


def git(*arguments: str, cwd: Path) -> None:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b.example", *arguments]
    subprocess.run(command, cwd=cwd, check=True, capture_output=True)


@pytest.mark.skipif(not (shutil.which("git") and shutil.which("make")), reason="needs git and make")
def test_a_release_is_refused_with_one_sentence_before_anything_long_runs(tmp_path: Path) -> None:
    def refusal() -> str:
        command = ["make", "--no-print-directory", "release-check", "MAKE=echo went on"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout.splitlines()[0]

    shutil.copy(ROOT / "Makefile", tmp_path)
    version = tmp_path / "src" / "anaphora" / "version.py"
    version.parent.mkdir(parents=True)
    version.write_text('VERSION = "1.2.3"\n')
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("## [Unreleased]\n")
    git("init", "--quiet", cwd=tmp_path)
    assert refusal() == "The tree has changes that are not committed."
    git("add", ".", cwd=tmp_path)
    git("commit", "--message", "begin", cwd=tmp_path)
    assert refusal().startswith("CHANGELOG.md has no heading '## [1.2.3] - YYYY-MM-DD'")
    changes.write_text("## [1.2.3] - 2026-01-02\n")
    git("commit", "--all", "--message", "release", cwd=tmp_path)
    assert refusal().startswith("echo went on lint")
    git("tag", "v1.2.3", cwd=tmp_path)
    assert refusal() == "The tag v1.2.3 exists: raise VERSION in src/anaphora/version.py."
