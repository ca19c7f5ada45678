"""``anaphora serve``: translators over HTTP.

Examples:
    anaphora serve runs/en-de runs/de-en
    anaphora serve runs/en-de --host 0.0.0.0 --name translate.example.org --keys keys
    anaphora serve --new-key weblate --keys keys
    anaphora serve runs/en-de --memory --learn
    anaphora serve runs/en-de --shortlist --precision int8
    anaphora serve runs/en-de --terms terms.tsv
    anaphora serve runs/en-de --neighbours
    curl -d q='A man is walking.' -d source=en -d target=de localhost:5000/translate
"""

import logging
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from anaphora.cli import collect_garbage
from anaphora.cli.options import Processor
from anaphora.cli.progress import listening
from anaphora.cli.searching import given_glossary
from anaphora.cli.talk import say, show
from anaphora.errors import ConfigError, MissingExtraError
from anaphora.options import Argument, Excludes, Needs, Option

if TYPE_CHECKING:
    from anaphora.kernels.backends import InferencePrecision
    from anaphora.serving.keys import Key
    from anaphora.serving.translators import Nearest, Translators

_PAIRS = 3
"""Training pairs that are shown for a word."""


@dataclass(frozen=True)
class RunFiles:
    """Use of run folders beside their models: memories, which may grow, glossaries, shortlists, training data."""

    memory: Annotated[bool, Option("Use the memories of the runs.", heading="Memory")] = False
    adapt: Annotated[bool, Option("Mix similar texts of the memory into predictions.", heading="Memory")] = False
    learn: Annotated[
        bool, Option("Let all clients add to the memories; with --new-key, clients with that key.", heading="Memory")
    ] = False

    terms: Annotated[
        Path | None, Option("Glossary of the run: source form, tab, form | form | !forbidden.", metavar="FILE")
    ] = None
    shortlist: Annotated[bool, Option("Write the tokens of the runs' shortlists alone, for speed.")] = False
    neighbours: Annotated[bool, Option("Show clients the training pairs nearest to each word.")] = False

    conflicts: ClassVar = (
        Excludes("--adapt", "--shortlist", "--adapt may write any word of known translations"),
        Needs("--adapt", "--memory"),
        Needs("--learn", "--memory --new-key"),
    )

    def load(self, runs: list[Path], precision: "InferencePrecision", keys: "list[Key]") -> "Translators":
        """Return the translators of runs with what is used beside them."""
        from anaphora.serving.translators import Translators

        collect_garbage()
        learns = self.learn or any(key.learns for key in keys)
        return Translators.load(
            runs,
            precision,
            memory=self.memory,
            learns=learns,
            adapt=self.adapt,
            shortlist=self.shortlist,
            terms=given_glossary(self.terms),
            nearest=_nearest if self.neighbours else None,
        )


@dataclass(frozen=True)
class Network:
    """Names of the server, and pages and proxies between it and its clients."""

    name: Annotated[list[str] | None, Option("Host name clients use; may be repeated.", metavar="HOST")] = None
    allow_origin: Annotated[list[str] | None, Option("Site that may call; may be repeated.", metavar="URL")] = None
    proxy: Annotated[list[str] | None, Option("Proxy of X-Forwarded-For; may be repeated.", metavar="ADDRESS")] = None

    def check(self) -> None:
        """Raise ConfigError for a proxy that is no address or network."""
        for one in self.proxy or []:
            try:
                ip_network(one)
            except ValueError:
                message = f"--proxy should be an address or a network like 10.0.0.0/8, but is {one!r}."
                raise ConfigError(message) from None


CONFLICTS = (Needs("--new-key", "--keys"),)


def run(
    files: RunFiles,
    network: Network,
    runs: Annotated[list[Path] | None, Argument("Run folders of translators.", metavar="RUN...")] = None,
    host: Annotated[str, Option("Address to listen at; 0.0.0.0 for all of the machine.")] = "127.0.0.1",
    port: Annotated[int, Option("Port to listen at; 0 for any.", min=0, max=65535)] = 5000,
    keys: Annotated[Path | None, Option("File of API keys; without it none are needed.")] = None,
    new_key: Annotated[str, Option("Add a key to --keys, print it and exit.", metavar="NAME")] = "",
    quiet: Annotated[bool, Option("Print no line for each request.")] = False,
    *,
    processor: Processor,
) -> None:
    """Serve translators to programs and browsers.

    Programs are clients of LibreTranslate. The page is at the address that is printed. SIGTERM or Ctrl-C ends the
    server after the requests in work.
    """
    if new_key and keys:
        return _add_key(keys, new_key, learns=files.learn)
    if not runs:
        raise ConfigError("Give the run folders of translators: anaphora serve RUN...")
    network.check()
    try:
        from anaphora.serving.actions import Service
        from anaphora.serving.app import application
        from anaphora.serving.keys import read_keys
        from anaphora.serving.log import LogLines
        from anaphora.serving.server import Server, bound
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "starlette", "serve") from None

    known: list[Key] = read_keys(keys) if keys else []
    with bound(host, port) as listener:
        translators = files.load(runs, processor.precision, known)
        service = Service(
            translators,
            known,
            names={one.lower() for one in (host, *(network.name or []))},
            origins=network.allow_origin or [],
            proxies=network.proxy or [],
            learns=files.learn,
        )
        app = application(service, (lambda line: None) if quiet else say)
        if not known and not _is_loopback(host):
            use = "use it and add to its memory" if files.learn else "use it"
            say(f"Whoever can reach this address can {use}: give --keys FILE to ask for API keys.")
        pairs = ", ".join(f"{one.source}-{one.target}" for one in translators)
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
        logging.getLogger().addHandler(LogLines(say))
        Server(app, service, lambda: say(f"Serving {pairs} at {address}")).run([listener])


def _nearest(run: Path) -> "Nearest":
    """Return a search for training pairs of a run; errors as for ``inspection.neighbours.neighbours``."""
    from anaphora.inspection.neighbours import index_of, neighbours_in
    from anaphora.inspection.subject import Subject

    with listening() as report:
        subject = Subject.open(run, report=report)
        index = index_of(subject, report)

    def nearest(text: str, translation: str) -> list[list[dict[str, Any]]]:
        words = neighbours_in(index, subject, text, translation, _PAIRS).by_word(_PAIRS)
        return [
            [{"source": one.source, "target": one.context, "distance": round(one.distance, 3)} for one in own]
            for own in words
        ]

    return nearest


def _add_key(keys: Path, name: str, *, learns: bool) -> None:
    from anaphora.serving.keys import new_key

    show(new_key(keys, name, learns=learns))
    say(f"The key is printed once; {keys} keeps its hash.")


def _is_loopback(host: str) -> bool:
    """True if only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
