"""Fixtures shared by all tests, and the rule that keeps the fast tier fast."""

import gc
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from anaphora.tasks.base import ExperimentBase

# one thread for torch, here and in processes that are started: where others use the cores too, several spin while they
# wait for each other, and a test may take twenty times the processor time that it needs
os.environ.setdefault("OMP_NUM_THREADS", "1")

# imports leave much behind and no garbage; a quarter of the time until the first test would go to looking for it
gc.disable()

# a busy machine makes no test fail: what a test may take is counted in time of the processor, below
ANY_SPEED: dict[str, Any] = {
    "deadline": None,
    # a folder may serve all examples: those that write there write all anew
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("quick", max_examples=25, **ANY_SPEED)
settings.register_profile("thorough", max_examples=100, **ANY_SPEED)
settings.load_profile("quick")

FAST_SECONDS = 10.0
"""Processor time that an unmarked test and its processes may take; longer ones carry the mark ``slow``."""

SLOW_FOLDERS = ("benchmarks", "samples")
"""Folders of tests that are all slow: few changes concern what they test."""

SLOW_TIMEOUT = 1200
"""Seconds after which a slow test is stopped."""

NETWORK = """[embedding]
size = 8
[encoder]
cell = "gru"
size = 8
[decoder]
cell = "gru"
size = 8
"""

EXPERIMENT_FILES = Path(__file__).parent / "experiments"
EXPERIMENTS = {file.stem: file.read_text() for file in EXPERIMENT_FILES.glob("*.toml")}
"""The tiny experiments; each trains in a second."""
TINY_TRANSLATOR, TINY_TRANSLATOR_OF_WORDS = EXPERIMENTS["translator"], EXPERIMENTS["translator-of-words"]
TINY_LANGUAGE_MODEL = EXPERIMENTS["language-model"]


@pytest.fixture(scope="session", autouse=True)
def without_waiting_for_the_disk() -> Iterator[None]:
    """A training waits for the disk fifty times, half of a short one's time; only a cut of power shows the difference.

    Tests of the order of operations put their own ``os.fsync`` in place of this one, and processes that are started
    have the real one.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets beside a development checkout; tests that need it are skipped elsewhere."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets are not here")
    return folder


AskRanks = Callable[..., list[dict[str, Any]]]


@contextmanager
def asking(module: str) -> Iterator[Callable[..., Any]]:
    """Ask ``python -m MODULE``, which answers each line, a request in JSON, by one."""
    root, command = Path(__file__).resolve().parents[1], [sys.executable, "-m", module]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdin is not None and process.stdout is not None
        requests, answers = process.stdin, process.stdout
        answers.readline()  # it is ready

        def ask(**request: Any) -> Any:
            requests.write(json.dumps(request, default=str) + "\n")
            requests.flush()
            return json.loads(answers.readline())

        yield ask
        requests.close()


@pytest.fixture(scope="session")
def ask_ranks() -> Iterator[AskRanks]:
    """``ask_ranks(ranks=2, ..)`` has two processes train together, and returns what each said; see ``ranked.py``."""
    with asking("tests.ranked") as ask:
        yield ask


@pytest.fixture(scope="session")
def count_model() -> str:
    """The experiment of a count model of three words; its data is to be given."""
    return EXPERIMENTS["counts"]


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``pairs``, ``sentences`` and ``book.txt``, which no test may change.

    Every word of the pairs is spelt backwards; most words of the sentences are the same in all of them.
    """
    folder = tmp_path_factory.mktemp("toy")
    words = [a + b + c for a in "abc" for b in "de" for c in "fgh"]
    _write_splits(folder / "pairs", "en", words)
    _write_splits(folder / "pairs", "fr", [word[::-1] for word in words])
    animals = {"cat": "chat", "dog": "chien", "horse": "cheval"}
    things = {"bird": "oiseau", "rat": "rat", "pig": "cochon", "lamb": "agneau", "fish": "poisson", "boat": "bateau"}
    for side, line, of in (("en", "The {} sees a very small {}", 0), ("fr", "Le {} voit un tout petit {}", 1)):
        lines = [line.format(a[of], b[of]) for b in things.items() for a in animals.items()]
        _write_splits(folder / "sentences", side, lines)
    (folder / "book.txt").write_text("".join(f"line {number} of the little book\n" for number in range(40)))
    return folder


def _write_splits(folder: Path, side: str, lines: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    for split, chosen in (("train", lines[:12]), ("val", lines[12:15]), ("test", lines[15:])):
        (folder / f"{split}.{side}").write_text("".join(f"{line}\n" for line in chosen))


@pytest.fixture
def toy_pairs(toy_data: Path, tmp_path: Path) -> Path:
    """A folder with the three splits of a toy translation corpus: every word is spelt backwards."""
    return shutil.copytree(toy_data / "pairs", tmp_path / "pairs")


@pytest.fixture
def toy_sentences(toy_data: Path, tmp_path: Path) -> Path:
    """A folder with the three splits of a corpus of sentences, most of whose words are the same in all of them."""
    return shutil.copytree(toy_data / "sentences", tmp_path / "sentences")


@pytest.fixture
def toy_book(toy_data: Path, tmp_path: Path) -> Path:
    """A short text."""
    return Path(shutil.copy(toy_data / "book.txt", tmp_path))


DATA = {"translator": "pairs", "translator-of-words": "sentences"}
"""The part of the toy data of an experiment; of the others it is the book."""

Trained = Callable[..., Path]


@pytest.fixture(scope="session")
def trained(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    """``trained("translator", "training.epochs=1")`` is the run of a tiny experiment, trained once for all tests.

    A test that changes its run (evaluates and keeps the metrics, resumes, damages) takes a copy from ``trained_copy``.
    """
    runs: dict[tuple[str, ...], Path] = {}
    files: dict[Path, int] = {}

    def train_once(name: str, *settings: str) -> Path:
        from anaphora.experiment.reading import read_experiment
        from anaphora.experiment.run_training import train

        if (name, *settings) not in runs:
            text, data = EXPERIMENTS[name], DATA.get(name, "book.txt")
            sides = {"source": "en", "target": "fr"} if name in DATA else {}
            run = tmp_path_factory.mktemp(name, numbered=True) / "run"
            train(read_experiment(text, f"{name}.toml", settings, data=[toy_data / data], **sides), run)
            runs[name, *settings] = run
            files.update({path: path.stat().st_mtime_ns for path in run.rglob("*")})
        return runs[name, *settings]

    yield train_once
    now = {path: path.stat().st_mtime_ns for run in runs.values() for path in run.rglob("*")}
    assert now == files, "a test changed a run that others use"


@pytest.fixture
def trained_copy(trained: Trained, tmp_path: Path) -> Trained:
    """``trained_copy("translator", "training.epochs=1")`` is a copy of that run, which may be changed."""

    def copy(name: str, *settings: str) -> Path:
        return shutil.copytree(trained(name, *settings), tmp_path / "-".join((name, *settings)))

    return copy


@pytest.fixture
def tiny_translator(tmp_path: Path) -> Path:
    """A file with the experiment of a translator that trains in a second; its data is to be given."""
    return Path(shutil.copy(EXPERIMENT_FILES / "translator.toml", tmp_path / "tiny-translator.toml"))


@pytest.fixture
def tiny_translator_of_words(tmp_path: Path) -> Path:
    """A file with the experiment of a translator that gets some words right after a second; its data is to be given."""
    return Path(shutil.copy(EXPERIMENT_FILES / "translator-of-words.toml", tmp_path / "tiny-translator-of-words.toml"))


@pytest.fixture
def tiny_language_model(tmp_path: Path) -> Path:
    """A file with the experiment of a language model that trains in a second; its data is to be given."""
    return Path(shutil.copy(EXPERIMENT_FILES / "language-model.toml", tmp_path / "tiny-language-model.toml"))


@pytest.fixture
def translator(tiny_translator: Path, toy_pairs: Path) -> "ExperimentBase":
    """A translator of the toy corpus."""
    from anaphora.experiment.reading import read_experiment

    return read_experiment(tiny_translator.read_text(), "tiny.toml", data=[toy_pairs], source="en", target="fr")


@pytest.fixture
def language_model(tiny_language_model: Path, toy_book: Path) -> "ExperimentBase":
    """A language model of the short text."""
    from anaphora.experiment.reading import read_experiment

    return read_experiment(tiny_language_model.read_text(), "tiny.toml", data=[toy_book])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast-seconds", type=float, default=FAST_SECONDS, help="processor time of an unmarked test")


def pytest_collection_finish(session: pytest.Session) -> None:
    # what all files of tests import stays to the end: no collection has to look through it
    gc.freeze()
    gc.enable()


def _sample(items: list[pytest.Item]) -> None:
    """A quarter of each matrix of combinations, always the same, stays in the fast tier; the rest is marked slow."""
    matrices = defaultdict(list)
    for item in items:
        if item.get_closest_marker("matrix") and not item.get_closest_marker("slow"):
            matrices[item.nodeid.partition("[")[0]].append(item)
    for combinations in matrices.values():
        combinations.sort(key=lambda item: crc32(item.nodeid.encode()))
        for item in combinations[math.ceil(len(combinations) / 4) :]:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _sample(items)
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT))


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    before = _processor_seconds()
    outcome = yield
    seconds = _processor_seconds() - before
    most = item.config.getoption("--fast-seconds")
    if seconds > most and not item.get_closest_marker("slow"):
        pytest.fail(
            f"{item.nodeid} took {seconds:.1f} s of the processor, and an unmarked test may take "
            f"{most:.0f} s: make it shorter or mark it slow.",
            pytrace=False,
        )
    return outcome
