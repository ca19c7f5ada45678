"""Known corpora are fetched whole and checked, or not at all."""

import gzip
import hashlib
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from anaphora.data.catalogue import CORPORA, KnownCorpus, RemoteFile
from anaphora.data.fetch import corpus_folder, data_home, fetch
from anaphora.errors import DataError
from anaphora.events import Event, Progress

TEXT = b"".join(b"line %d\n" % number for number in range(30_000))
PLAIN = b"a\nb\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home"


class Answers(BaseHTTPRequestHandler):
    """Good files, and every way a server can fail."""

    def do_GET(self) -> None:
        packed = gzip.compress(TEXT)
        body = {
            "/good.gz": packed,
            "/plain": PLAIN,
            "/cut": packed[:1000],
            "/damaged": packed[:-9],
            "/other": b"x" * len(TEXT),
            "/bomb": gzip.compress(bytes(50_000_000)),
            "/flood": bytes(10_000_000),
        }.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(packed) if self.path == "/cut" else len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def table(address: str, text: bytes = TEXT) -> Mapping[str, KnownCorpus]:
    file = RemoteFile("train.en", address, len(text), hashlib.sha256(text).hexdigest())
    return {"toy": KnownCorpus("A toy.", "public domain", (file,))}


def test_a_packed_file_is_downloaded_unpacked_and_checked(home: Path, server: str) -> None:
    events: list[Event] = []
    folder = fetch("toy", report=events.append, corpora=table(f"{server}/good.gz"))
    assert folder == home / "toy" == corpus_folder("toy", corpora=table(""))
    assert (folder / "train.en").read_bytes() == TEXT
    assert [path.name for path in folder.iterdir()] == ["train.en"]
    told = [event for event in events if isinstance(event, Progress)]
    assert told[-1].done == told[-1].total == len(gzip.compress(TEXT))


def test_a_plain_file_is_downloaded_and_checked(home: Path, server: str) -> None:
    assert (fetch("toy", corpora=table(f"{server}/plain", PLAIN)) / "train.en").read_bytes() == PLAIN


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/missing", r"/missing answers 404 Not Found: try again"),
        ("/cut", "broke off after|cannot be fetched"),
        ("/damaged", "damaged"),
        ("/other", "holds another text"),
        ("/bomb", "holds another text"),
        ("/flood", "gives more than"),
    ],
)
def test_what_is_not_the_text_leaves_nothing_behind(home: Path, server: str, address: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fetch("toy", corpora=table(server + address))
    assert list((home / "toy").iterdir()) == []


def test_a_server_that_is_not_there_is_named(home: Path) -> None:
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:1/x cannot be fetched .*--from FOLDER"):
        fetch("toy", corpora=table("http://127.0.0.1:1/x"))


def test_what_is_whole_is_left_alone_and_what_is_not_is_fetched_again(home: Path, server: str) -> None:
    fetch("toy", corpora=table(f"{server}/good.gz"))
    fetch("toy", corpora=table("http://127.0.0.1:1/x"))
    (home / "toy" / "train.en").write_bytes(TEXT[:-1] + b"?")
    fetch("toy", corpora=table(f"{server}/good.gz"))
    assert (home / "toy" / "train.en").read_bytes() == TEXT


@pytest.mark.parametrize("place", ["toy/train.en.gz", "toy/train.en", "train.en.gz", "train.en"])
def test_a_folder_serves_instead_of_the_network(home: Path, tmp_path: Path, place: str) -> None:
    origin = tmp_path / "from" / place
    origin.parent.mkdir(parents=True)
    origin.write_bytes(gzip.compress(TEXT) if place.endswith(".gz") else TEXT)
    folder = fetch("toy", tmp_path / "from", corpora=table("http://127.0.0.1:1/x"))
    assert (folder / "train.en").read_bytes() == TEXT
    assert origin.exists()


def test_a_folder_without_the_files_or_with_others_is_named(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train\.en or train\.en\.gz of the corpus toy should be in"):
        fetch("toy", tmp_path, corpora=table(""))
    (tmp_path / "train.en").write_bytes(b"another text")
    with pytest.raises(DataError, match=r"should have .* but .*train\.en holds another text"):
        fetch("toy", tmp_path, corpora=table(""))
    assert list((home / "toy").iterdir()) == []


def test_an_unknown_corpus_brings_the_known_ones(home: Path) -> None:
    with pytest.raises(
        DataError, match=r"'multi3k' is unknown\. Known corpora: multi30k, ptb\. Did you mean 'multi30k'"
    ):
        fetch("multi3k")


def test_a_corpus_that_is_not_here_says_how_to_get_it(home: Path) -> None:
    with pytest.raises(DataError, match="run  anaphora fetch ptb  first"):
        corpus_folder("ptb")


def test_the_data_folder_is_the_persons_choice_or_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path))
    assert data_home() == tmp_path
    monkeypatch.delenv("ANAPHORA_DATA")
    assert data_home().name == "anaphora"


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_the_catalogue_describes_the_real_files(home: Path, shared_data: Path, name: str) -> None:
    folder = fetch(name, shared_data)
    assert sorted(path.name for path in folder.iterdir()) == sorted(file.name for file in CORPORA[name].files)
    assert all(file.address.startswith("https://") for file in CORPORA[name].files)
