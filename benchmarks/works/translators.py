"""Training a translator beside the same in JoeyNMT, on the same batches of 64 pairs, in two sizes.

The smaller is the size of Caglayan et al. (2017), "LIUM-CVC Submissions for WMT17 Multimodal Translation Task", the
monomodal system; attention and input feeding are those that both sides have.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from anaphora.protocols import VocabularyInfo
from benchmarks import joeynmt, ours
from benchmarks.material import SentenceBatches, prepare_pairs, tokenizer_of
from benchmarks.work import Precision, Sample, Setting, Work


@dataclass(frozen=True)
class Translator:
    """A translator that both sides train; JoeyNMT's is ``peers/joeynmt-<name>.yaml``."""

    name: str
    parts: str
    """What it is built from, in words."""
    experiment: str
    """Ours, as TOML."""
    units: int
    """The size of the vocabulary that both languages share."""
    updates: int
    """How many are timed."""
    bars: Mapping[Precision, float]

    def sides(self) -> dict[str, VocabularyInfo]:
        """The vocabulary of source and target."""
        return dict.fromkeys(("source", "target"), tokenizer_of(self.units).symbols)

    def train(self, setting: Setting) -> Sample:
        """Our side."""
        updates, batches = setting.repetitions(self.updates), SentenceBatches(self.units)
        return ours.train_for(updates, self.experiment, self.sides(), batches, setting)

    def train_peer(self, setting: Setting) -> Sample:
        """JoeyNMT's."""
        updates, config = setting.repetitions(self.updates), f"joeynmt-{self.name}"
        return joeynmt.train_for(updates, config, self.units, setting, warm_up=ours.WARM_UP)

    def work(self) -> Work:
        """The comparison of both."""
        return Work(
            name=f"translator-{self.name}",
            measures=f"training, 64 pairs a batch: joint BPE {self.units:,}, {self.parts}, general attention, "
            "dropout 0.2, Adam, Multi30k en-de",
            unit="target tokens",
            peer="JoeyNMT 2.3.0, the same model and batches in fp32",
            bars=self.bars,
            prepare=partial(prepare_pairs, self.units),
            ours=self.train,
            theirs=self.train_peer,
        )


LSTM_512 = Translator(
    name="lstm-512",
    parts="embeddings 512, BiLSTM 512, input-feeding LSTM 512",
    units=8000,
    updates=10,
    bars={"fp32": 3.7, "bf16": 6.0},
    experiment="""
task = "translate"
[embedding]
size = 512
dropout = 0.2
[encoder]
cell = "lstm"
size = 512
[decoder]
cell = "lstm"
size = 512
initial_state = "zero"
dropout = 0.2
[attention]
score = "general"
[output]
bias = false
[training]
optimizer = "adam"
schedule = "constant"
clip_norm = 1.0
""",
)

GRU_256 = Translator(
    name="gru-256",
    parts="embeddings 128, BiGRU 256, input-feeding GRU 256",
    units=10_000,
    updates=20,
    bars={"fp32": 3.8, "bf16": 5.5},
    experiment="""
task = "translate"
[embedding]
size = 128
dropout = 0.2
[encoder]
cell = { kind = "gru", recurrent_bias = true }
size = 256
[decoder]
cell = { kind = "gru", recurrent_bias = true }
size = 256
initial_state_activation = "tanh"
dropout = 0.2
[attention]
score = "general"
[output]
bias = false
[training]
optimizer = "adam"
schedule = "constant"
clip_norm = 1.0
""",
)
