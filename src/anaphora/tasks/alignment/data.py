"""An aligner's experiment: word alignments are learnt in one go where networks are trained update by update."""

from collections.abc import Mapping
from typing import cast

from anaphora.data.store import pair_store
from anaphora.evaluation.perplexity import perplexity
from anaphora.events import Report
from anaphora.models.alignment.aligner import Aligner
from anaphora.tasks.fitting import FittingWork
from anaphora.tasks.pairs import PairWork
from anaphora.tasks.work import Begun


class AlignerWork(FittingWork, PairWork):
    """Learning links."""

    def fit(self, begun: Begun, report: Report) -> Mapping[str, float]:
        aligner = cast(Aligner, begun.model)
        sides, encoded = (begun.tokenizers["source"], begun.tokenizers["target"]), begun.encoded
        train = pair_store(
            self.splits.train, *sides, encoded / "train", longest=self._experiment.data.max_length, report=report
        )
        valid = pair_store(self.splits.valid, *sides, encoded / "valid", report=report)
        aligner.fit(train.sources, train.targets, report)
        found = aligner.to_target.best(valid.sources, valid.targets)
        loss = -found.log_prob / max(1, found.words)
        return {"loss": loss, "perplexity": perplexity(loss, 1)}
