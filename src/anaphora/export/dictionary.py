"""What an aligner learnt of words, as a file of tab-separated columns; ``formats/dictionary.py`` reads it."""

from pathlib import Path

from anaphora.formats.dictionary import write_dictionary
from anaphora.pipeline import Aligner


def save_dictionary(aligner: Aligner, path: Path) -> None:
    """Write source word, target word and p(target | source); DataError when it cannot be written."""
    write_dictionary(path, aligner.dictionary())
