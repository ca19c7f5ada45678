"""``anaphora train`` on a translation memory, and ``anaphora translate`` on documents."""

import gzip
import io
import shutil
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from anaphora.cli.app import main
from anaphora.formats.entries.kinds import read_entries
from anaphora.formats.entries.tmx import tmx_lines
from anaphora.formats.lines import write_lines
from tests.formats.omegat_project import make_project

from ..conftest import EXPERIMENT_FILES
from .conftest import Cli

XLIFF = (
    '<xliff version="1.2"><file source-language="en" target-language="fr"><body>\n'
    '<trans-unit id="1"><source>adf <g id="1">beg</g></source>{}</trans-unit>\n'
    '<trans-unit id="2"><source>adf</source><target>fda</target></trans-unit>\n</body></file></xliff>'
)


@pytest.fixture(scope="module")
def run(toy_data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A translator that learnt from the toy corpus as a translation memory."""
    folder = tmp_path_factory.mktemp("learnt")
    sides = [(toy_data / "pairs" / f"train.{code}").read_text().split() for code in ("en", "fr")]
    *lines, end = tmx_lines(zip(*sides, strict=True), ("en", "fr"))
    untranslated = '<tu><tuv xml:lang="en"><seg>no</seg></tuv></tu>'
    write_lines(folder / "memory.tmx", [*lines, untranslated, end])
    words = str(EXPERIMENT_FILES / "translator-of-words.toml")
    data = ["--data", str(folder / "memory.tmx"), "--source", "en", "--target", "fr"]
    with redirect_stderr(io.StringIO()) as said:
        assert main(["train", words, *data, "--run", str(folder / "run")]) == 0
    assert "1 entry without a translation was left out" in said.getvalue()
    return str(folder / "run")


def test_a_document_is_written_back_with_its_gaps_filled(run: str, cli: Cli) -> None:
    document, out = cli.write("d.xlf", XLIFF.format("")), cli.folder / "out.xlf"
    printed = cli("translate", run, document)
    begin, end = XLIFF.split("{}")
    assert printed.out.startswith(f'{begin}<target state="needs-review-translation">')
    assert printed.out.endswith(f"</g></target>{end}")
    assert "1 of 1 missing translation was filled; 1 other entry is unchanged." in printed.err
    broken = cli.write("broken.xlf", XLIFF.format("")[:-9])
    assert "broken.xlf:4 is no XML" in cli.refuse("translate", run, broken, "--output", out) and not out.exists()
    for name in ("out.xlf", "out.xlf.gz"):
        cli("translate", run, document, "--output", cli.folder / name)
        content = (cli.folder / name).read_bytes()
        assert (gzip.decompress(content) if name.endswith(".gz") else content).decode() == printed.out


def test_what_has_no_gap_or_other_languages_comes_back_and_what_cannot_be_measured_is_said(run: str, cli: Cli) -> None:
    whole, out = XLIFF.format("<target>x</target>").replace("\n", "\r\n"), cli.folder / "out.xlf"
    assert "other languages" not in cli("translate", run, cli.write("d.xlf", whole), "--output", out).err
    assert out.read_bytes() == whole.encode()
    foreign = XLIFF.format("").replace('"en"', '"es"')
    printed = cli("translate", run, cli.write("d.xlf", foreign))
    assert printed.out == foreign
    assert "d.xlf is in other languages than en and fr, which are those of the run." in printed.err
    limited = XLIFF.replace('id="1">', 'id="1" maxwidth="80">', 1).format("")
    told = cli("translate", run, cli.write("d.xlf", limited)).said
    assert "1 entry was filled whose size the file limits in pixels or in another way" in told and "(line 2)" in told


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        (["--json"], "leave it out."),
        (["--pairs", "p.tsv"], "leave it out."),
        (["--alignments", "a.txt"], "leave it out."),
        (["--confidence"], "take --min-confidence P"),
    ],
)
def test_what_is_for_lines_is_refused_before_any_work(option: list[str], remedy: str, project: Path, cli: Cli) -> None:
    cli.enter()
    cli.write("d.xlf", XLIFF.format(""))
    for file, what in (("d.xlf", "a document"), (project, "an OmegaT project")):
        complaint = cli.refuse("translate", "no-run", file, *option)
        assert f"{option[0]} is for lines of text, but {file} is {what}: {remedy}" in complaint


def test_similar_segments_are_written_on_request_and_reported(run: str, cli: Cli) -> None:
    own, out = shutil.copytree(run, cli.folder / "own"), cli.folder / "out.xlf"
    segments = cli.write("m.tsv", "adf beg cdh aeg\tfda geb hdc gea\n")
    cli("memory", own, "add", segments)
    document = cli.write("d.xlf", XLIFF.format("").replace('<g id="1">beg</g>', "beg cdh"))
    asked = ["translate", own, document, "--memory", "--output", out]
    cli(*asked)
    assert "fuzzy-match" not in out.read_text()
    told = cli(*asked, "--fuzzy", "75").said
    assert 'state-qualifier="fuzzy-match">fda geb hdc gea</target>' in out.read_text()
    assert "line 2: fuzzy 75%, removed 'aeg', from 'adf beg cdh aeg'." in told
    assert "1 entry was filled with the target of a similar segment: review them." in told
    for file in cli.write("d.html", PAGE), segments:
        assert "--fuzzy fills documents for review" in cli.refuse("translate", own, file, "--memory", "--fuzzy", "75")


PAGE = "<html><body><p>adf <b>beg</b> cdh</p><p>aef</p><p>adh!</p></body></html>"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An OmegaT project with a page, one of whose texts is translated, and a glossary."""
    glossary = "# terms\nadh\theb\tnote\n"
    files = {"source/a.html": PAGE, "source/b.docx": "PK\x03\x04word/", "glossary/glossary.txt": glossary}
    return make_project(tmp_path / "project", files, saved={"aef": "fea"}, languages=("EN", "FR-FR"))


def test_an_omegat_project_gets_a_memory_of_what_it_lacks(run: str, project: Path, cli: Cli) -> None:
    told = cli("translate", run, project).err
    memory = project / "tm" / "mt" / "anaphora.tmx"
    entries = list(read_entries(memory, "tmx", ("en", "fr")))
    assert [entry.source for entry in entries] == ["adf <b0>beg</b0> cdh", "adh!"]
    assert entries[0].target.count("<b0>") == entries[0].target.count("</b0>") == 1
    assert "heb" in entries[1].target  # which the glossary wants
    assert 'srclang="EN"' in memory.read_text() and 'xml:lang="FR-FR"' in memory.read_text()
    assert f"{project}/glossary: 1 term." in told
    assert f"{memory}: 2 of 2 new segments; 1 is translated already." in told
    assert f"{project}/source/b.docx is in a format that is not read, and was left out." in told
    first = memory.read_bytes()
    cli("translate", run, project)
    assert memory.read_bytes() == first  # it is no translation of the project


def test_a_glossary_may_replace_that_of_the_project_and_segments_or_projects_are_refused(
    run: str, project: Path, cli: Cli
) -> None:
    terms, output = cli.write("terms.tsv", "adh\tgda\n"), cli.folder / "out.tmx"
    cli("translate", run, project, "--terms", terms, "--output", output)
    assert "gda" in list(read_entries(output, "tmx", ("en", "fr")))[1].target
    assert not (project / "tm" / "mt").exists()
    (project / "glossary" / "glossary.txt").write_text("adh\tw\u00f6rt\n")
    told = cli("translate", run, project).err
    assert "1 of 2 new segments" in told and "Segment 'adh!'" in told and "glossary.txt:1" in told
    file = project / "omegat.project"
    file.write_text(file.read_text().replace("FR-FR", "DE"))
    said = f"{project} is translated from EN to DE, but the run translates en to fr: name another."
    assert said in cli.refuse("translate", run, project)
