"""The quickstart, whole: a corpus, a translator, a score and a picture from one command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_quickstart_translates_sentences_that_it_never_saw(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    command = [sys.executable, "-m", "anaphora", "quickstart", "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    score = re.search(r"BLEU = (\d+\.\d+) \(raw; .*version:", done.stdout)
    assert score and float(score[1]) >= 95
    assert (folder / "alignment.png").read_bytes().startswith(b"\x89PNG")
    trained = set((folder / "corpus" / "train.en").read_text().splitlines())
    assert not trained & set((folder / "corpus" / "test.en").read_text().splitlines())
