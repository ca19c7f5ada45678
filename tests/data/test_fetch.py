"""Known corpora are fetched whole and checked, or not at all."""

import dataclasses
import gzip
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from anaphora.data.catalogue import CORPORA, KnownCorpus, PairArchive, RemoteFile
from anaphora.data.fetch import corpus_folder, data_home, fetch
from anaphora.data.tatoeba import split, write_lines
from anaphora.errors import DataError
from anaphora.events import Event, Progress
from tests.data.file_server import FileServer, serving

NOWHERE = "http://127.0.0.1:1/x"

TEXT = b"".join(b"line %d\n" % number for number in range(30_000))

PACKED = gzip.compress(TEXT)  # once: an archive holds the second in which it was made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAPHORA_DATA", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home"


@pytest.fixture
def server() -> Iterator[FileServer]:
    with serving(PACKED) as running:
        yield running


def table(address: str, **more: object) -> Mapping[str, KnownCorpus]:
    file = RemoteFile("train.en", len(TEXT), hashlib.sha256(TEXT).hexdigest(), address=address)
    return {"toy": KnownCorpus("A toy.", "public domain", (dataclasses.replace(file, **more),))}  # type: ignore[arg-type]


def test_a_packed_file_is_downloaded_unpacked_and_checked(home: Path, server: FileServer) -> None:
    events: list[Event] = []
    folder = fetch("toy", report=events.append, corpora=table(server.address))
    assert folder == home / "toy" == corpus_folder("toy", corpora=table(""))
    assert (folder / "train.en").read_bytes() == TEXT
    assert [path.name for path in folder.iterdir()] == ["train.en"]
    told = [event for event in events if isinstance(event, Progress)]
    assert told[-1].done == told[-1].total == len(PACKED)
    fetch("toy", corpora=table(NOWHERE))  # what is whole is left alone
    (home / "toy" / "train.en").write_bytes(TEXT[:-1] + b"?")
    server.body = TEXT
    fetch("toy", corpora=table(server.address))
    assert (home / "toy" / "train.en").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (PACKED[:-9], "damaged"),
        (b"x" * len(TEXT), "holds another text"),
        (gzip.compress(bytes(50_000_000), compresslevel=1), "holds another text"),
    ],
    ids=["damaged", "other", "bomb"],
)
def test_what_is_not_the_text_leaves_nothing_behind(home: Path, server: FileServer, body: bytes, message: str) -> None:
    server.body = body
    with pytest.raises(DataError, match=message):
        fetch("toy", corpora=table(server.address))
    assert list((home / "toy").iterdir()) == []


def test_a_server_or_a_file_that_is_not_there_is_named(home: Path, server: FileServer) -> None:
    with pytest.raises(DataError, match=r"http://127\.0\.0\.1:1/x cannot be fetched .*--from FOLDER"):
        fetch("toy", corpora=table(NOWHERE))
    with pytest.raises(DataError, match="/files answers 404 Not Found: try again"):
        fetch("toy", corpora=table(f"{server.address}s"))
    assert list((home / "toy").iterdir()) == []


@pytest.mark.parametrize("place", ["toy/train.en.gz", "toy/train.en", "train.en.gz", "train.en"])
def test_a_folder_serves_instead_of_the_network(home: Path, tmp_path: Path, place: str) -> None:
    origin = tmp_path / "from" / place
    origin.parent.mkdir(parents=True)
    origin.write_bytes(PACKED if place.endswith(".gz") else TEXT)
    folder = fetch("toy", tmp_path / "from", corpora=table(NOWHERE))
    assert (folder / "train.en").read_bytes() == TEXT
    assert origin.exists()


def test_a_folder_without_the_files_or_with_others_is_named(home: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"train\.en or train\.en\.gz of the corpus toy is not in"):
        fetch("toy", tmp_path, corpora=table(""))
    (tmp_path / "train.en").write_bytes(b"another text")
    with pytest.raises(DataError, match=r"train\.en holds another text than train\.en"):
        fetch("toy", tmp_path, corpora=table(""))
    assert list((home / "toy").iterdir()) == []


def test_a_corpus_that_is_unknown_or_not_here_says_how_to_get_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = "multi30k, ptb, tatoeba-en-fr, wikitext-2"
    with pytest.raises(DataError, match=rf"'multi3k' is unknown\. Did you mean 'multi30k'\? Known: {known}\."):
        fetch("multi3k")
    assert data_home() == home
    with pytest.raises(DataError, match="run  anaphora fetch ptb  first"):
        corpus_folder("ptb")
    monkeypatch.delenv("ANAPHORA_DATA")
    assert data_home().name == "anaphora"


def test_a_download_with_another_sum_is_refused_even_if_its_text_is_right(home: Path, server: FileServer) -> None:
    packed = {"packed_bytes": len(PACKED), "packed_sha256": "0" * 64}
    with pytest.raises(DataError, match="should have sha256 000000000000"):
        fetch("toy", corpora=table(server.address, **packed))
    packed["packed_sha256"] = hashlib.sha256(PACKED).hexdigest()
    assert fetch("toy", corpora=table(server.address, **packed)) == home / "toy"


PAIRS = [("Go.", "Va !"), ("Run!", "Cours !"), ("Who?", "Qui ?"), ("I'm in.", "J'en suis."), ("I'm OK.", "Ça va.")]


def archive(text: str, member: str = "fra.txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(member, text)
    return packed.getvalue()


@pytest.mark.parametrize("content", ["whole", "another text", "another member", "no archive", "too much"])
def test_an_archive_is_parted_and_every_part_checked(home: Path, server: FileServer, content: str) -> None:
    text = "".join(f"{english}\t{french}\n" for english, french in PAIRS)
    wanted = {f"{name}.tsv": b"".join(write_lines(pairs)) for name, pairs in split(PAIRS).items()}
    files = tuple(RemoteFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in wanted.items())
    server.body = {
        "whole": archive(text),
        "another text": archive(text.replace("Go.", "Gone.")),
        "another member": archive(text, "eng.txt"),
        "no archive": b"PK and so on",
        "too much": archive(text + " " * 10_000),
    }[content]
    origin = PairArchive(server.address, "fra.txt", 1000)
    corpora = {"toy": KnownCorpus("A toy.", "public domain", files, origin)}
    if content == "whole":
        folder = fetch("toy", corpora=corpora)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == wanted
        fetch("toy", corpora=corpora)  # all of it is here
    else:
        with pytest.raises(DataError, match=r"holds another text|zip archive with fra\.txt|at most 1,000 bytes"):
            fetch("toy", corpora=corpora)
        assert not [path for path in (home / "toy").iterdir() if not path.name.endswith(".tsv")]


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_the_catalogue_describes_the_real_files(home: Path, shared_data: Path, name: str) -> None:
    folder = fetch(name, shared_data / name.replace("tatoeba-", "tatoeba_"))
    assert sorted(path.name for path in folder.iterdir()) == sorted(file.name for file in CORPORA[name].files)
    origin = CORPORA[name].origin
    addresses = [origin.address] if origin else [file.address for file in CORPORA[name].files]
    assert all(re.match(r"https://[^/]+/[^/]+/[^/]+/[0-9a-f]{40}/", address) for address in addresses)
    for file in CORPORA[name].files:
        if file.packed_sha256:
            stored = (shared_data / name / f"{file.name}.gz").read_bytes()
            assert (len(stored), hashlib.sha256(stored).hexdigest()) == (file.packed_bytes, file.packed_sha256)
