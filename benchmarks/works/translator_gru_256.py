"""Training the published Multi30k translator: embeddings 128, GRU 256, beside the same in JoeyNMT.

The size is that of Caglayan et al. (2017), "LIUM-CVC Submissions for WMT17 Multimodal Translation Task", the monomodal
system; attention and input feeding are those that both sides have.
"""

from functools import partial

from benchmarks import joeynmt, ours
from benchmarks.material import SentenceBatches, coder_of, prepare_pairs
from benchmarks.work import Sample, Setting, Work

UNITS = 10_000
UPDATES = 20

EXPERIMENT = """
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
start_activation = "tanh"
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
    return joeynmt.train_for(setting.repetitions(UPDATES), "joeynmt-gru-256", UNITS, setting, warm_up=ours.WARM_UP)


WORK = Work(
    name="translator-gru-256",
    measures="training, fp32, 64 pairs a batch: joint BPE 10,000, embeddings 128, BiGRU 256, input-feeding GRU 256, "
    "general attention, dropout 0.2, Adam, Multi30k en-de",
    unit="target tokens",
    peer="JoeyNMT 2.3.0, the same model and batches",
    bar=3.5,
    prepare=partial(prepare_pairs, UNITS),
    ours=train,
    theirs=train_peer,
)
