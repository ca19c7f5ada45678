"""Transduction: a string in, another out, by a translator of symbols: spelling to sound, inflection, and so on."""

from typing import cast

from anaphora.models.registry import NETWORKS
from anaphora.protocols import Searchable
from anaphora.tasks.task import Kind, Sizing, Task, Trained, both_sides
from anaphora.tasks.transduce import sizing
from anaphora.tasks.transduce.config import TransductionExperiment
from anaphora.tasks.transduce.data import TransducerWork
from anaphora.tasks.transduce.evaluation import NOUN, evaluate
from anaphora.tasks.transduce.predictor import TransducerPredictor, Transduction
from anaphora.tasks.translation import TranslationPredictor, complete, givers
from anaphora.text.symbols import SymbolTokenizer

__all__ = ["TASK", "TransducerPredictor", "Transduction", "TransductionExperiment"]


def _predictor(trained: Trained) -> TransducerPredictor:
    experiment = cast(TransductionExperiment, trained.experiment)
    source, target = (cast(SymbolTokenizer, trained.tokenizers[side]) for side in ("source", "target"))
    stepper = cast(Searchable, trained.model).stepper
    translator = TranslationPredictor(stepper, source, target, experiment.evaluation, runtime=trained.runtime)
    return TransducerPredictor(translator, source, target)


TASK = Task(
    name="transduce",
    noun=NOUN,
    kinds={
        "": Kind(
            "transducers",
            TransductionExperiment,
            NETWORKS["translator"],
            TransducerWork,
            complete=complete,
            givers=givers,
        )
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your string' | anaphora predict {run}",
    example='transducer = anaphora.load("{path}")\nprint(transducer.predict(["..."])[0].text)',
    tokenizers_of=both_sides,
    evaluate=evaluate,
    inspected=lambda predictor: predictor.translator,
    sizing=Sizing(sizing.suits, sizing.choose, sizing.describe, "pairs of strings", sizing.TIERS),
)
"""Transduction."""
