"""Projects of OmegaT written in a test, as OmegaT 6 lays them out."""

from pathlib import Path

_FILE = (Path(__file__).parent / "omegat" / "project.xml").read_text(encoding="utf-8")
_SAVED = (Path(__file__).parent / "omegat" / "project_save.xml").read_text(encoding="utf-8")
_UNIT = """    <tu>
      <tuv lang="{languages[0]}"><seg>{source}</seg></tuv>
      <tuv lang="{languages[1]}" changeid="me" changedate="20261127T100000Z"><seg>{target}</seg></tuv>
    </tu>"""


def make_project(
    folder: Path,
    files: dict[str, str],
    *,
    saved: dict[str, str] | None = None,
    languages: tuple[str, str] = ("EN-US", "DE"),
    by_sentences: bool = True,
    source: str = "__DEFAULT__",
) -> Path:
    """A project with ``files`` by their paths in it; ``saved`` are its translations, escaped as in XML."""
    for place in ("source", "target", "tm", "glossary", "dictionary", "omegat"):
        (folder / place).mkdir(parents=True)
    (folder / "omegat.project").write_text(
        _FILE.format(languages=languages, by_sentences=str(by_sentences).lower(), source=source)
    )
    units = [_UNIT.format(languages=languages, source=text, target=target) for text, target in (saved or {}).items()]
    (folder / "omegat" / "project_save.tmx").write_text(_SAVED.format(languages=languages, units="\n".join(units)))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder
