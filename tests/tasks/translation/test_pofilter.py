"""What the checks of translate-toolkit say of catalogues that were filled; it is GPL, and so used by tests alone."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.formats.entries.kinds import kind_of, read_entries
from anaphora.tasks.translation.documents import fill
from tests.formats.entries.filling import document_of
from tests.tasks.translation.test_documents import HEAD

checks = pytest.importorskip("translate.filters.checks")
factory = pytest.importorskip("translate.storage.factory")

FILTERS = ["variables", "printf", "newlines", "xmltags", "accelerators", "startwhitespace", "endwhitespace"]
WORDS = [
    "Open",
    "the",
    "file",
    "%s",
    "%d",
    "%(name)s",
    "{name}",
    "{0}",
    "<b>",
    "</b>",
    "<br/>",
    "\n",
    " ",
    "_Save",
    "5",
]


def careless(texts: Sequence[str], protects: bool) -> list[str]:
    """Translations in which every third text keeps what it should, and the others lose, double or add something."""
    changes = [
        lambda text: text.replace("e", "ä"),
        lambda text: re.sub(r"[%{<]\S*", "", text) + " und",
        lambda text: f"{text} {text}",
        lambda text: text + " %s </b>",
        lambda text: f" {text.title()}\n",
    ]
    return [changes[number % len(changes)](text) for number, text in enumerate(texts)]


def failures(path: Path) -> dict[str, Any]:
    """What the checks find in the fuzzy messages of a catalogue, by the source."""
    checker = checks.StandardChecker(checks.CheckerConfig(accelmarkers=["_"]), limitfilters=FILTERS)
    units = [unit for unit in factory.getobject(str(path)).units if unit.isfuzzy()]
    for unit in units:
        unit.markfuzzy(False)
    found = {str(unit.source): checker.run_filters(unit) for unit in units}
    return {source: faults for source, faults in found.items() if faults}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(messages=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), min_size=1, max_size=8))
def test_no_message_loses_what_it_should_keep(messages: list[list[str]], tmp_path: Path) -> None:
    sources = dict.fromkeys("".join(words) if "\n" in words else " ".join(words) for words in messages)
    written = (source.replace("\n", "\\n") for source in sources)
    text = HEAD.format("UTF-8") + "".join(f'msgid "{source}"\nmsgstr ""\n\n' for source in written)
    filled = fill(document_of(tmp_path, "a.po", text), careless, "de")
    (tmp_path / "b.po").write_bytes(filled.content)
    assert failures(tmp_path / "b.po") == {}


@pytest.mark.parametrize("language", ["de", "fr"])
def test_the_messages_of_a_real_program_lose_nothing(language: str, shared_data: Path, tmp_path: Path) -> None:
    text = (shared_data / "po" / f"djangorestframework.{language}.po").read_text(encoding="utf-8")
    head, *messages = text.split("\n\n")
    emptied = [re.sub(r'^msgstr(\[\d\])? "(?s:.*)\Z', "", message, flags=re.M) for message in messages]
    assert len(emptied) > 100
    text = "\n\n".join([head, *(f'{message}msgstr ""\n' for message in emptied if "msgid_plural" not in message)])
    filled = fill(document_of(tmp_path, "a.po", text, ("en", language)), careless, language)
    assert filled.entries > 30
    (tmp_path / "b.po").write_bytes(filled.content)
    assert failures(tmp_path / "b.po") == {}


@pytest.mark.parametrize(
    ("name", "languages"),
    [
        ("po/djangorestframework.fr.po", ("en", "fr")),
        ("tmx/python-tmx.namespaces.tmx", ("en", "fr")),
        ("xliff/matecat/file-917985.xliff", ("hy-am", "fr-fr")),
        ("xliff/matecat/newformat.jsont.xlf", ("en-us", "fr-fr")),
    ],
)
def test_both_read_the_same_pairs(name: str, languages: tuple[str, str], shared_data: Path) -> None:
    path = shared_data / name
    ours = [(one.source, one.target) for one in read_entries(path, kind_of(path), languages) if not one.skipped]
    theirs = [
        (" ".join(str(unit.source).split()), " ".join(str(unit.target).split()))
        for unit in factory.getobject(str(path)).units
        if unit.istranslated() and not unit.isheader() and unit.source.strip()
    ]
    assert [tuple(" ".join(side.split()) for side in pair) for pair in ours] == theirs
