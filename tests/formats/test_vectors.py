"""Word vectors as text: every dialect is read, and what is broken is told with its line."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.errors import DataError
from anaphora.formats.vectors import read_vectors

from .conftest import Written

WANTED = {"cat", "dog"}
FOUND = [("cat", [1.0, -0.5]), ("dog", [2e-3, 0.0])]


@pytest.mark.parametrize(
    "text",
    [
        "cat 1.0 -0.5\nbird 3 4\ndog 2e-3 0\n",
        "3 2\ncat 1.0 -0.5\nbird 3 4\ndog 2e-3 0\n",
        "3 2\ncat 1.0 -0.5 \nbird 3 4 \ndog 2e-3 0 ",
        "\ufeffcat 1.0 -0.5\r\ndog 2e-3 0\r\n",
        "the 0 0\ncat food 1 2\ncat 1.0 -0.5\n. . . 3 4\ndog 2e-3 0\n",
        "1000 2\ncat 1.0 -0.5\ndog 2e-3 0\n",
    ],
    ids=["glove", "header", "spaces at the end", "windows", "words with spaces", "cut short"],
)
def test_every_dialect_gives_the_same_vectors(text: str, written: Written) -> None:
    for content in (text, gzip.compress(text.encode())):
        assert list(read_vectors(written("vectors.txt", content), 2, WANTED)) == FOUND


def test_bytes_that_are_no_text_belong_to_no_wanted_word(written: Written) -> None:
    path = written("vectors.txt", b"c\xff 1 2\ncat 1.0 -0.5\ndog 2e-3 0\n")
    assert list(read_vectors(path, 2, WANTED)) == FOUND


def test_a_word_that_stops_being_wanted_is_not_given_again(written: Written) -> None:
    wanted, found = {"cat"}, []
    for word, vector in read_vectors(written("vectors.txt", "cat 1 2\ncat 3 4\n"), 2, wanted):
        wanted.discard(word)
        found.append(vector)
    assert found == [[1.0, 2.0]]


@pytest.mark.parametrize("text", ["cat 1 2 3\n", "7 3\ncat 1 2 3\n"])
def test_vectors_of_another_size_are_refused_with_theirs(text: str, written: Written) -> None:
    with pytest.raises(DataError, match=r"vectors\.txt has vectors of 3 numbers, not 2: use"):
        list(read_vectors(written("vectors.txt", text), 2, WANTED))


@pytest.mark.parametrize("line", ["dog 1", "dog", "", "dog 1 x", "dog nan 1", "dog 1 inf", "dog 1,0 2,0"])
def test_a_line_that_is_no_vector_is_refused_with_its_number(line: str, written: Written) -> None:
    for number, text, said in ((2, f"cat 1 2\n{line}\nbird 1 2\n", line), (1, "vectors\ncat 1 2\n", "vectors")):
        with pytest.raises(DataError, match=rf"txt:{number} should be a word and 2 finite numbers, but is '{said}'"):
            list(read_vectors(written("vectors.txt", text), 2, WANTED))


@given(
    vectors=st.dictionaries(
        st.text(st.characters(categories=["L", "N", "P"]), min_size=1),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_what_is_written_is_read(vectors: dict[str, list[float]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("vectors") / "v.vec"
    lines = [f"{word} {' '.join(map(repr, vector))}\n" for word, vector in vectors.items()]
    path.write_bytes(f"{len(vectors)} 2\n{''.join(lines)}".encode())
    assert dict(read_vectors(path, 2, vectors)) == vectors
