"""Trained translators in worker processes, from the command line."""

import gzip
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.bulk.translation import LoadTranslator
from anaphora.errors import RunError
from anaphora.formats.glossary import GlossaryEntry
from anaphora.prediction.candidates import Candidates
from anaphora.prediction.glossary import Glossary
from anaphora.prediction.options import SearchOptions
from anaphora.search.sampling import Sampling
from tests.tasks.conftest import shown

RUN = Path(__file__).resolve().parents[1] / "runs" / "format-2"
"""A stored translator."""


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=pytest.mark.slow)])
def test_workers_write_the_bytes_of_one_process_and_list_lines_that_are_no_text(tmp_path: Path, engine: str) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    text, plain, bulk = tmp_path / "text.gz", tmp_path / "plain.gz", tmp_path / "bulk.gz"
    lines = [b"A man.", b"", b"<s> Two dogs </s>", b"A man. Dogs run!", b"dog " * 40, b" A dog ", b"dogs"]
    text.write_bytes(gzip.compress(b"".join(line + b"\r\n" for line in lines)))
    command = ["translate", RUN, text, "--max-tokens", 30, "--beam", 2]
    said = shown(*command, "--output", plain, code=2).err.splitlines()
    [refused] = [line for line in said if "split it into sentences" in line]
    assert said[-1] == "anaphora: 1 line was refused and has no translation."
    lines[1] = b"\xff beg"
    text.write_bytes(gzip.compress(b"".join(line + b"\r\n" for line in lines)))
    command += ["--workers", 1, "--shard-lines", 2, "--engine", engine]
    said = shown(*command, "--output", bulk, code=2).err.splitlines()
    assert bulk.read_bytes() == plain.read_bytes()
    assert gzip.decompress(bulk.read_bytes()).count(b"\n") == 7
    assert refused in said and said[-1] == "anaphora: 2 lines were refused and have no translation."
    unreadable, long = (tmp_path / "bulk.gz.refused.tsv").read_text().splitlines()
    assert unreadable.startswith(f"2\t{text}:2 should be UTF-8, but byte 1 of the line is 0xFF")
    assert long.startswith("5\t") and long.split("\t")[1] in refused
    assert not (tmp_path / "bulk.gz.shards").exists()


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_it_with_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int, word: str
) -> None:
    def lines(*_: object) -> Iterator[str]:
        os.kill(os.getpid(), number)
        yield "adf"

    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    around = signal.signal(number, usual)  # in the background, a shell has processes ignore it
    monkeypatch.setattr("anaphora.cli.bulk.given_texts", lines)
    try:
        said = shown("translate", RUN, "-", "--workers", 1, "--output", tmp_path / "out", code=code).err
        assert signal.getsignal(number) == usual
    finally:
        signal.signal(number, around)
    kept = "Finished shards are kept; to continue, give the same command again."
    assert said.splitlines()[-2:] == [kept, f"anaphora: {word}."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "2"], "--workers needs a file to write, no pipe or device: add --output FILE."),
        (["--workers", "2", "--output", "/dev/null"], "--workers needs a file to write, no pipe or device"),
        (["--workers", "2", "--output", "OUT", "--json"], "leave out --json, or --workers"),
        (["--workers", "2", "--output", "OUT", "--memory"], "leave out --memory, or --workers"),
        (["--engine", "ray"], "--engine belongs to --workers, which is missing."),
        (["--workers", "2", "--output", "OUT", "--engine", "rey"], "Did you mean 'ray'"),
    ],
)
def test_what_workers_do_not_write_is_refused_unread(options: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\n")
    given = [str(tmp_path / "out") if option == "OUT" else option for option in options]
    assert message in shown("translate", tmp_path, tmp_path / "text", *given, code=2).err


def test_ray_that_is_missing_or_not_reached_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text("a\n")
    command = ["translate", RUN, tmp_path / "text", "--output", tmp_path / "out", "--workers", 2, "--engine", "ray"]
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "ray", None)
        said = shown(*command, code=2).err
    assert "run pip install 'anaphora[ray]', in a checkout pip install '.[ray]'." in said
    assert not (tmp_path / "out.shards").exists()
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "nowhere")
    said = shown(*command, code=2).err
    assert "Ray (nowhere) cannot be reached or started: Invalid address format: nowhere." in said


def test_a_worker_refuses_another_version_and_a_run_that_was_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    load = LoadTranslator((RUN,), SearchOptions())
    digest = load.model_digest()
    assert digest == load.model_digest() != replace(load, precision="bf16").model_digest()
    replace(load, model=digest)()
    with pytest.raises(RunError, match="has another best checkpoint than when the work began"):
        replace(load, model="another")()
    monkeypatch.setattr("anaphora.bulk.translation.VERSION", "another")
    with pytest.raises(RunError, match="has another version of Anaphora or of its kernels"):
        replace(load, model=digest)()


def test_every_search_option_counts_and_the_order_of_a_dictionary_does_not() -> None:
    def digest(options: SearchOptions, split: bool = True) -> str:
        return LoadTranslator((), options, split).options_digest()

    def glossary(form: str, where: str = "a:1") -> Glossary:
        return Glossary([GlossaryEntry(where, "a", (form,), ())])

    asked = [
        SearchOptions(),
        SearchOptions(beam=3),
        SearchOptions(sampling=Sampling(seed=1)),
        SearchOptions(max_tokens=5),
        SearchOptions(protect=()),
        SearchOptions(replace_unknown={}),
        SearchOptions(replace_unknown={"a": "b", "c": "d"}),
        SearchOptions(terms=glossary("b")),
        SearchOptions(terms=glossary("c")),
        SearchOptions(candidates=Candidates({"a": ["b"]})),
        SearchOptions(candidates=Candidates({"a": ["c"]})),
        SearchOptions(candidates=Candidates({"a": ["b"]}, each=3)),
    ]
    assert len({digest(options) for options in asked} | {digest(SearchOptions(), split=False)}) == len(asked) + 1
    assert digest(SearchOptions(replace_unknown={"c": "d", "a": "b"})) == digest(asked[6])
    assert digest(SearchOptions(terms=glossary("b", "elsewhere:2"))) == digest(asked[7])
