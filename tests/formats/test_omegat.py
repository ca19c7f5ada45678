"""Projects of OmegaT: what their file says, and which documents and memories they have."""

from pathlib import Path

import pytest

from anaphora.errors import DataError
from anaphora.formats.omegat import is_project, read_project
from tests.formats.omegat_project import make_project


def test_a_project_says_its_languages_and_folders(tmp_path: Path) -> None:
    assert is_project(make_project(tmp_path / "p", {}, by_sentences=False)) and not is_project(tmp_path)
    project = read_project(tmp_path / "p")
    assert project.languages == ("EN-US", "DE")
    assert not project.by_sentences
    assert project.saved == tmp_path / "p" / "omegat" / "project_save.tmx"
    folders = [tmp_path / "p" / name for name in ("source", "tm", "glossary")]
    assert [project.source, project.memories, project.glossary] == folders


def test_folders_may_lie_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a")
    for place in ("../texts", str(tmp_path / "texts")):
        project = read_project(make_project(tmp_path / place.replace("/", "_"), {"source/b.txt": "b"}, source=place))
        assert [path.read_text() for path in project.documents()] == ["a"]


def test_documents_are_all_files_of_all_folders_but_those_of_masks(tmp_path: Path) -> None:
    files = dict.fromkeys(("source/b.po", "source/deep/a.html", "source/.git/x", "source/d/.git/e/x", "source/~$b"), "")
    project = read_project(make_project(tmp_path, files))
    assert [path.relative_to(project.source).as_posix() for path in project.documents()] == ["b.po", "deep/a.html"]


def test_a_missing_folder_of_documents_is_named(tmp_path: Path) -> None:
    project = read_project(make_project(tmp_path / "p", {}, source="lost"))
    with pytest.raises(DataError, match=r"p/lost should be the folder of documents in .*omegat\.project: make it"):
        project.documents()


def test_memories_of_people_are_those_outside_of_mt(tmp_path: Path) -> None:
    files = dict.fromkeys(("tm/b.tmx", "tm/auto/a.tmx", "tm/mt/m.tmx", "tm/penalty-010/mt/p.tmx", "tm/readme.txt"), "")
    project = read_project(make_project(tmp_path, files))
    names = [path.relative_to(project.memories).as_posix() for path in project.other_memories()]
    assert names == ["auto/a.tmx", "b.tmx", "penalty-010/mt/p.tmx"]
