"""The notebooks of the documentation run from the first cell to the last, and are stored without outputs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return found


def test_notebooks_are_stored_without_outputs() -> None:
    code = [cell for notebook in NOTEBOOKS for cell in cells(notebook) if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
    assert len(NOTEBOOKS) == 2 and len(code) > 10


def test_pages_that_notebooks_name_are_there() -> None:
    for notebook in NOTEBOOKS:
        text = "".join(line for cell in cells(notebook) for line in cell["source"] if cell["cell_type"] == "markdown")
        named = re.findall(r"\]\(([^)#]+)", text)
        assert named and [name for name in named if not (FOLDER / name).is_file()] == []


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_and_shows_what_it_promises(notebook: Path, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    opened = nbformat.read(notebook, as_version=4)
    nbformat.validate(opened)
    NotebookClient(opened, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output for cell in opened.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.get("name") == "stderr"], shown
    assert sum("text/html" in output.get("data", {}) for output in shown) == 2
    assert list(tmp_path.iterdir()) == []  # a notebook leaves nothing beside it
