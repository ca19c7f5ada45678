"""The lexical model: words of the source, weighted by attention, predict the next one (Nguyen and Chiang 2018, section 4).

    1  c_t^lex = tanh(sum_s a_t(s) f_s)          f_s are the word vectors of the source
    2  h_t^lex = tanh(W c_t^lex) + c_t^lex
    3  logits  = W_o o_t + W_lex h_t^lex + b

The output layer makes step 3 one product, of [W_o, W_lex] and o_t beside h_t^lex. Nothing here is read by a later step,
so all of it is computed for all steps at once.
"""

from typing import Any

from anaphora.kernels.parts import Activate, Add, Join, Part, Project, WeightedSum
from anaphora.nn.weights import Matrix, projection_matrices


def lexical_matrices(width: int) -> dict[str, Matrix]:
    """Return W of step 2; ``width`` of the word vectors."""
    return projection_matrices("lexical_layer", width, width, False)


def lexical_parts(readout: str, target: str) -> tuple[Part, ...]:
    """Return steps 1 and 2, and h_t^lex behind the signal ``readout``."""
    return (
        WeightedSum("lexical", "lexical.sum"),
        Activate("lexical_context", ("lexical.sum",), "lexical.context"),  # 1
        Project("lexical_layer", "lexical.context", "lexical.hat", False),
        Activate("lexical_activation", ("lexical.hat",), "lexical.tanh"),
        Add("lexical_sum", ("lexical.tanh", "lexical.context"), "lexical.h"),  # 2
        Join("beside", (readout, "lexical.h"), target),
    )


def lexical_memory(memory: Any, words: Any) -> dict[str, Any]:
    """Return what step 1 reads: word vectors in the order of the sentence, and positions from the ``memory`` of attention."""
    return {"lexical.values": words} | {f"lexical.{name}": memory[f"attention.{name}"] for name in ("closed", "length")}
