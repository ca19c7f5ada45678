"""Training a translator of 21 million parameters: BiLSTM 512, input-feeding LSTM 512, beside the same in JoeyNMT."""

from functools import partial

from benchmarks import joeynmt, ours
from benchmarks.material import SentenceBatches, coder_of, prepare_pairs
from benchmarks.work import Sample, Setting, Work

UNITS = 8000
UPDATES = 10

EXPERIMENT = """
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
start = "zero"
dropout = 0.2
[attention]
score = "general"
[output]
bias = false
[training]
precision = "fp32"
optimizer = "adam"
schedule = "constant"
clip_norm = 1.0
"""


def train(setting: Setting) -> Sample:
    """Our side."""
    symbols = coder_of(UNITS).symbols
    return ours.train_for(
        setting.repetitions(UPDATES),
        EXPERIMENT,
        {"source": symbols, "target": symbols},
        SentenceBatches(UNITS),
        setting,
    )


def train_peer(setting: Setting) -> Sample:
    """JoeyNMT's."""
    return joeynmt.train_for(setting.repetitions(UPDATES), "joeynmt-lstm-512", UNITS, setting, warm_up=ours.WARM_UP)


WORK = Work(
    name="translator-lstm-512",
    measures="training, fp32, 64 pairs a batch: joint BPE 8,000, embeddings 512, BiLSTM 512, input-feeding LSTM 512, "
    "general attention, dropout 0.2, Adam, Multi30k en-de",
    unit="target tokens",
    peer="JoeyNMT 2.3.0, the same model and batches",
    bar=3.8,
    prepare=partial(prepare_pairs, UNITS),
    ours=train,
    theirs=train_peer,
)
