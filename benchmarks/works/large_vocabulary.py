"""Training a translator of 50,000 target ids, told from those of a stretch of the corpus, beside a softmax over all.

Jean et al. (2015, section 3.2). It is about time alone: the targets are those of a smaller vocabulary, and the ids that
no target has cost a softmax over all of them as much as any.
"""

from functools import partial

from anaphora.data.partitions import Partitions
from benchmarks import ours
from benchmarks.material import SentenceBatches, prepare_pairs, tokenizer_of
from benchmarks.work import Sample, Setting, Work
from benchmarks.works.translators import GRU_256

IDS = 50_000
WORDS = 3000
UPDATES = 10


def train(output: str, setting: Setting) -> Sample:
    """The same translator with an output of one ``kind``, as TOML."""
    symbols = tokenizer_of(GRU_256.units).symbols
    return ours.train_for(
        setting.repetitions(UPDATES),
        GRU_256.experiment.replace("[output]", f"[output]\n{output}"),
        {"source": symbols, "target": symbols._replace(size=IDS)},
        Partitions(SentenceBatches(GRU_256.units), WORDS),
        setting,
    )


WORK = Work(
    name="large-vocabulary",
    measures=f"training, 64 pairs a batch: {GRU_256.parts}, {IDS:,} target ids, of which {WORDS:,} a stretch are "
    "told from each other",
    unit="target tokens",
    peer="the same with a softmax over all ids",
    bars={"fp32": 0.0, "bf16": 0.0},
    prepare=partial(prepare_pairs, GRU_256.units),
    ours=partial(train, f'kind = "sampled"\nproposal = {{ kind = "partition", words = {WORDS} }}'),
    theirs=partial(train, 'kind = "full"'),
    peer_follows=True,
)
