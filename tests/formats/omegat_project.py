"""Projects of OmegaT written in a test, as OmegaT 6 lays them out."""

from pathlib import Path

_FILE = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<omegat>
    <project version="1.0">
        <source_dir>{source}</source_dir>
        <source_dir_excludes>
            <mask>**/.git/**</mask>
            <mask>**/~$*</mask>
        </source_dir_excludes>
        <target_dir>__DEFAULT__</target_dir>
        <tm_dir>__DEFAULT__</tm_dir>
        <glossary_dir>__DEFAULT__</glossary_dir>
        <glossary_file>__DEFAULT__</glossary_file>
        <dictionary_dir>__DEFAULT__</dictionary_dir>
        <source_lang>{languages[0]}</source_lang>
        <target_lang>{languages[1]}</target_lang>
        <source_tok>org.omegat.tokenizer.LuceneEnglishTokenizer</source_tok>
        <sentence_seg>{by_sentences}</sentence_seg>
        <support_default_translations>true</support_default_translations>
        <remove_tags>false</remove_tags>
        <external_command></external_command>
    </project>
</omegat>
"""
_SAVED = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx11.dtd">
<tmx version="1.1">
  <header creationtool="OmegaT" o-tmf="OmegaT TMX" adminlang="EN-US" datatype="plaintext" creationtoolversion="6.0.0"
    segtype="sentence" srclang="{languages[0]}"/>
  <body>
<!-- Default translations -->
{units}
<!-- Alternative translations -->
  </body>
</tmx>
"""
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
    units = [
        _UNIT.format(languages=languages, source=source, target=target) for source, target in (saved or {}).items()
    ]
    (folder / "omegat" / "project_save.tmx").write_text(_SAVED.format(languages=languages, units="\n".join(units)))
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder
