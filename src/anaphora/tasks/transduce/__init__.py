"""Transduction: a string in, another out, by a translator of symbols: spelling to sound, inflection, and so on.

What is read may also be a sequence of vectors, such as the strokes of a pen, in whose place a text is written.
"""

from typing import cast

from anaphora.models.registry import NETWORKS
from anaphora.models.vector_transducer import VectorTransducer
from anaphora.protocols import Searchable
from anaphora.tasks import trace
from anaphora.tasks.task import Kind, Sizing, Task, Trained, both_sides, by_data
from anaphora.tasks.transduce import sizing
from anaphora.tasks.transduce.config import TransductionExperiment, VectorTransductionExperiment
from anaphora.tasks.transduce.data import TransducerWork, settled
from anaphora.tasks.transduce.evaluation import NOUN, evaluate
from anaphora.tasks.transduce.predictor import TransducerPredictor, Transduction
from anaphora.tasks.transduce.vector_predictor import VectorTransducerPredictor
from anaphora.tasks.transduce.vectors import VectorTransducerWork
from anaphora.tasks.translation import TranslationPredictor, complete, givers
from anaphora.text.symbols import SymbolTokenizer

__all__ = [
    "TASK",
    "TransducerPredictor",
    "Transduction",
    "TransductionExperiment",
    "VectorTransducerPredictor",
    "VectorTransductionExperiment",
]


def _predictor(trained: Trained) -> TransducerPredictor | VectorTransducerPredictor:
    if isinstance(trained.experiment, VectorTransductionExperiment):
        model, symbols = cast(VectorTransducer, trained.model), cast(SymbolTokenizer, trained.tokenizers["target"])
        return VectorTransducerPredictor(model, symbols, trained.experiment, trained.runtime)
    experiment = cast(TransductionExperiment, trained.experiment)
    source, target = (cast(SymbolTokenizer, trained.tokenizers[side]) for side in ("source", "target"))
    stepper = cast(Searchable, trained.model).stepper
    translator = TranslationPredictor(stepper, source, target, experiment.evaluation, runtime=trained.runtime)
    return TransducerPredictor(translator, source, target)


TASK = Task(
    name="transduce",
    noun=NOUN,
    kinds={
        "text": Kind(
            "transducers",
            TransductionExperiment,
            NETWORKS["translator"],
            TransducerWork,
            complete=lambda experiment, parent: settled(cast(TransductionExperiment, complete(experiment, parent))),
            givers=givers,
        ),
        "vectors": Kind(
            "transducers of vectors",
            VectorTransductionExperiment,
            NETWORKS["vector-transducer"],
            VectorTransducerWork,
            complete=by_data(trace.splits_of, trace.settled),
            next_command="anaphora evaluate {run}",
            example='transducer = anaphora.load("{path}")\nprint(transducer.predict([vectors])[0].text)',
        ),
    },
    predictor=_predictor,
    see="see anaphora predict",
    next_command="echo 'Your string' | anaphora predict {run}",
    example='transducer = anaphora.load("{path}")\nprint(transducer.predict(["..."])[0].text)',
    tokenizers_of=both_sides,
    evaluate=evaluate,
    inspected=lambda predictor: getattr(predictor, "translator", predictor),
    sizing=Sizing(sizing.choose, sizing.describe, "pairs of strings", sizing.TIERS),
)
"""Transduction."""
