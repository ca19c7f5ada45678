"""``anaphora fetch``: bring a known corpus into the data folder.

Examples:
    anaphora fetch
    anaphora fetch multi30k
    anaphora fetch multi30k --list
    anaphora fetch --json
    anaphora fetch multi30k --from /media/disk/corpora
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from anaphora.cli.progress import listening
from anaphora.cli.talk import print_json, say, show
from anaphora.options import Argument, Excludes, Needs, Option

if TYPE_CHECKING:
    from anaphora.data.catalogue import KnownCorpus


CONFLICTS = (
    Excludes("--from", "--list --json", "--from brings files and {other} only shows which"),
    Needs("--from", "CORPUS"),
)


def run(
    corpus: Annotated[str, Argument("Corpus to download; without it, list all.", metavar="[CORPUS]")] = "",
    origin: Annotated[Path | None, Option("Take files from here; download none.", metavar="DIR", name="--from")] = None,
    listed: Annotated[bool, Option("List files, sizes, checksums and URLs; download none.", name="--list")] = False,
    as_json: Annotated[bool, Option("Print the corpora or the files of one as JSON.", name="--json")] = False,
) -> None:
    """Download a known corpus, or list all.

    Every file is verified by its SHA-256.
    """
    from anaphora.data.catalogue import CORPORA
    from anaphora.data.fetch import data_home, fetch, known_corpus

    if as_json:
        chosen = {corpus: known_corpus(corpus)} if corpus else CORPORA
        return print_json({name: asdict(known) | {"bytes": known.bytes} for name, known in chosen.items()})
    if not corpus:
        for name, known in CORPORA.items():
            show(f"{name}  {known.about} {known.bytes / 1e6:.1f} MB. Licence: {known.licence}.")
        say(f"They go into {data_home()}, or into the folder that ANAPHORA_DATA names.")
        return
    if listed:
        for row in _rows(known_corpus(corpus)):
            show("  ".join(row).rstrip())
        say(f"They go into {data_home() / corpus}; --from DIR takes each of them, gzipped or not, from a folder.")
        return
    with listening() as report:
        folder = fetch(corpus, origin, report=report)
    say(f"Licence: {CORPORA[corpus].licence}.")
    show(folder)


def _rows(corpus: "KnownCorpus") -> Iterator[tuple[str, ...]]:
    """Name, size, sum and address of every file; where it is downloaded gzipped, then the same of that."""
    for file in corpus.files:
        address = file.address
        if corpus.origin:
            address = f"made by anaphora fetch from {corpus.origin.member} in {corpus.origin.address}"
        yield file.name, f"{file.bytes:,} bytes", f"sha256 {file.sha256}", "" if file.packed_sha256 else address
        if file.packed_sha256:
            yield f"{file.name}.gz", f"{file.packed_bytes:,} bytes", f"sha256 {file.packed_sha256}", address
