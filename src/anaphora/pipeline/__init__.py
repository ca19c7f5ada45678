"""Raw text in, raw text out: a trained network with its coders, a search and a decoder of ids.

    text -> ids -> batches -> model -> search -> ids -> text

What comes out for a text is a function of that text alone, to the last bit: batches hold sentences of one padded
width, and neither their order nor their size plays a part.
"""

from anaphora.pipeline.aligner import Aligner
from anaphora.pipeline.candidates import Candidates
from anaphora.pipeline.generation import Generation
from anaphora.pipeline.language_model import LanguageModel
from anaphora.pipeline.loading import load, load_as, load_together
from anaphora.pipeline.translation import Translation
from anaphora.pipeline.translator import Translator, longest

__all__ = [
    "Aligner",
    "Candidates",
    "Generation",
    "LanguageModel",
    "Translation",
    "Translator",
    "load",
    "load_as",
    "load_together",
    "longest",
]
