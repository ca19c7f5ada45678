"""Projects of OmegaT: a folder with ``omegat.project``, which names the languages and where the files are.

A folder is ``__DEFAULT__``, absolute, or relative to the project. Documents are in ``source``, the translations that
were confirmed in ``omegat/project_save.tmx``, other memories in ``tm``; OmegaT marks what comes from ``tm/mt`` as
machine translation.
"""

from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from anaphora.errors import DataError
from anaphora.formats.safe_xml import xml_elements

NAME = "omegat.project"
_USUAL = "__DEFAULT__"


class Project(NamedTuple):
    """Content of a project file."""

    folder: Path
    languages: tuple[str, str]
    """Codes of source and target, as the project writes them."""
    by_sentences: bool
    """True if paragraphs are segmented into sentences."""
    source: Path
    memories: Path
    glossary: Path
    excluded: tuple[str, ...]
    """Masks of files in ``source`` that are none of its documents, such as ``**/.git/**``."""

    @property
    def saved(self) -> Path:
        """The memory of what was translated in the project."""
        return self.folder / "omegat" / "project_save.tmx"

    def other_memories(self) -> list[Path]:
        """Return the translation memories beside ``saved``, sorted by path, without those of machines (``mt``)."""
        given = sorted(self.memories.rglob("*.tmx"))
        return [path for path in given if path.relative_to(self.memories).parts[0] != "mt"]

    def documents(self) -> list[Path]:
        """Return the files to translate, in their order; DataError where their folder is missing."""
        if not self.source.is_dir():
            raise DataError(f"{self.source} should be the folder of documents in {self.folder / NAME}: make it.")
        masks = [tuple(mask.split("/")) for mask in self.excluded]
        return [
            path
            for path in sorted(self.source.rglob("*"))
            if path.is_file() and not any(_fits(path.relative_to(self.source).parts, mask) for mask in masks)
        ]


def is_project(folder: Path) -> bool:
    return (folder / NAME).is_file()


def read_project(folder: Path) -> Project:
    """Return the project of a folder; DataError for a file that is no project or does not name its languages."""
    path = folder / NAME
    said = defaultdict[str, list[str]](list)
    for element in xml_elements(path):
        said[element.name].append(element.text.strip())
    if "omegat" not in said or not (any(said["source_lang"]) and any(said["target_lang"])):
        raise DataError(f"{path} should name source_lang and target_lang of an OmegaT project: save it with OmegaT.")

    def place(name: str, usual: str) -> Path:
        named = next(iter(said[name]), _USUAL)
        return folder / (usual if named in ("", _USUAL) else named)

    return Project(
        folder,
        (said["source_lang"][0], said["target_lang"][0]),
        said["sentence_seg"] != ["false"],
        place("source_dir", "source"),
        place("tm_dir", "tm"),
        place("glossary_dir", "glossary"),
        tuple(said["mask"]),
    )


def _fits(names: Sequence[str], mask: Sequence[str]) -> bool:
    """True if a path fits a mask as Ant has them, both as their parts: ``**`` is any folders."""
    if not mask:
        return not names
    if mask[0] == "**":
        return any(_fits(names[place:], mask[1:]) for place in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], mask[0]) and _fits(names[1:], mask[1:])
