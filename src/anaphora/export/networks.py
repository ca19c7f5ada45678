"""Trained networks as graphs: which file makes those of which network."""

from anaphora.errors import ConfigError
from anaphora.export import classifier, language_model, tagger, values, writer
from anaphora.export.graph import Graphs
from anaphora.models.classifier import PooledClassifier
from anaphora.models.encoder_decoder import EncoderDecoder
from anaphora.models.language_model import LanguageModel
from anaphora.models.tagger import StepTagger
from anaphora.models.values import ValueNetwork
from anaphora.tasks.registry import task_of
from anaphora.tasks.task import Trained


def graphs_of(trained: Trained) -> Graphs:
    """The graphs of a trained network in evaluation mode.

    Raises ConfigError, naming the option, for one without, MissingExtraError without the library.
    """
    match trained.model:
        case EncoderDecoder():
            return writer.graphs_of(trained)
        case LanguageModel():
            return language_model.graphs_of(trained)
        case PooledClassifier():
            return classifier.graphs_of(trained)
        case StepTagger():
            return tagger.graphs_of(trained)
        case ValueNetwork():
            return values.graphs_of(trained)
    plural = task_of(trained.experiment).plural
    raise ConfigError(f"There are no ONNX graphs of {plural}: use the run itself.")
