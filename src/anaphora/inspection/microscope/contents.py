"""A trained network as the page has it: its description, with each step as primitives, its weights, its tokenizers.

What the page does not compute is refused by name, so a page never shows anything but the model.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sacremoses import MosesTokenizer
from sentencepiece import SentencePieceProcessor
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.inspection.microscope.steps import Table, lower
from anaphora.kernels.program_data import program_from_data
from anaphora.models.description import describe
from anaphora.run.weights import tensors_of
from anaphora.tasks.task import TrainedModel
from anaphora.text.joiner_tokens import OPENING, WORD, JoinerTokens
from anaphora.text.rare_word_annotation import AnnotatedTokenizer, NumberingTokenizer
from anaphora.text.tokenizer import Tokenizer
from anaphora.text.words import WordTokenizer, spellings

_OTHER_RULES = ("cs", "fi", "he", "ja", "ko", "zh")
"""Languages for which Moses has rules that the page has not."""

_KINDS = ("encoder-decoder", "recurrent-language-model", "feed-forward-language-model")
"""Kinds of networks that the page computes."""


def contents(trained: TrainedModel) -> tuple[Table, Mapping[str, Tensor]]:
    """Return a trained translator or language model as JSON, and its weights, as a checkpoint has them.

    Raises ConfigError for a model that the page does not compute.
    """
    network = describe(trained.model)
    if network["kind"] not in _KINDS:
        raise _refusal(f"a network of kind {network['kind']}".replace("-", " "))
    if any("values" in inputs for _, inputs, *_ in network.get("encoder", {"operations": []})["operations"]):
        raise _refusal("a network that reads vectors")
    if "alignments" in network.get("decoder", {}) or network["output"]["kind"] == "pointer-generator":
        raise _refusal('attention.kind = "hard-monotonic" or output.kind = "pointer-generator"')
    kind = trained.experiment.text.tokenizer
    tokenizers = {side: tokens_of(tokenizer, kind) for side, tokenizer in trained.tokenizers.items()}
    tensors = tensors_of(trained.model)
    weights = {name: tensor for name, tensor in tensors.items() if tensor.is_floating_point()}
    return {**_page_data(network, tensors), "tokenizers": tokenizers}, weights


def _page_data(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Return a part of the description with steps as primitives."""
    match value:
        case {"program": program, "weights": prefix}:
            value = {**value, "name": prefix, "step": lower(program_from_data(program), prefix)}
            del value["program"]
        case {"lengths": name}:
            value = {**value, "lengths": tensors[name].tolist()}
        case list():
            return [_page_data(one, tensors) for one in value]
    return {name: _page_data(one, tensors) for name, one in value.items()} if isinstance(value, Mapping) else value


def tokens_of(tokenizer: Tokenizer, kind: str) -> Table:
    """Return a tokenizer of a ``kind`` as JSON. Raises ConfigError for one that the page does not have."""
    table: Table = {"kind": kind, "pieces": spellings(tokenizer), "lowercase": tokenizer.lowercase}
    if tokenizer.rule:
        table["rule"] = [(pattern.pattern, put) for pattern, put in tokenizer.rule.substitutions]
    if tokenizer.variants:
        table["variants"] = asdict(tokenizer.variants)
    match tokenizer:
        case AnnotatedTokenizer() | NumberingTokenizer():
            raise _refusal("annotated rare words (text.rare)")
        case WordTokenizer(options={"segmentation": "moses", "language": language}):
            if language in _OTHER_RULES:
                raise _refusal(f'text.segmentation = "moses" of the language "{language}"')
            table["moses"] = {"language": language, "prefixes": MosesTokenizer(lang=language).NONBREAKING_PREFIXES}
        case WordTokenizer(options={"segmentation": "joiner", "language": language}):
            patterns = {"token": JoinerTokens(language).pattern, "word": WORD, "opening": OPENING}
            # a script has another name in regular expressions of JavaScript
            table |= {name: one.pattern.replace("p{Hebrew}", "p{sc=Hebrew}") for name, one in patterns.items()}
    table |= {name: getattr(tokenizer, name) for name in ("alphabet", "separated") if hasattr(tokenizer, name)}
    if kind == "unigram":
        processor = SentencePieceProcessor(model_proto=tokenizer.serialise())
        table["scores"] = [processor.get_score(number) for number in range(tokenizer.symbols.size)]
    return table


def _refusal(what: str) -> ConfigError:
    return ConfigError(
        f"The microscope shows translators and language models of one network, but not {what}: use another verb of "
        f"anaphora inspect for this run."
    )
