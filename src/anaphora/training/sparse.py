"""Tables of word vectors that learn by the rows of a batch alone, all others having no gradient.

Plain gradient descent comes to the same weights so; rules that keep something of each weight (Adam) do not, because
they move words that are not in a batch too.
"""

from collections import Counter

import torch
from torch import Tensor, nn

from anaphora.nn.embedding import Embedding

CORRECTED = "corrected"
"""The field of a state whose epsilon is added after the bias correction."""


class LazyAdamSteps(torch.optim.SparseAdam):
    """Adam's steps (Kingma and Ba 2015, algorithm 1) in the rows of sparse gradients.

    torch divides by sqrt(v) + e before it corrects v for its bias, which is 1 - beta^t; Adam divides by the root of the
    corrected v, plus e. A state without ``CORRECTED`` was saved by torch's rule, and goes on by it.
    """

    def __init__(self, tables: list[nn.Parameter], lr: float, betas: tuple[float, float], eps: float) -> None:
        super().__init__([{"params": [table]} for table in tables], lr, betas, eps)

    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            table = group["params"][0]
            state = self.state[table]
            if not state and table.grad is not None:
                means = {name: torch.zeros_like(table) for name in ("exp_avg", "exp_avg_sq")}
                state |= {"step": 0, CORRECTED: torch.tensor(True)} | means
            if CORRECTED in state:
                group["eps"] = self.defaults["eps"] * (1 - group["betas"][1] ** (state["step"] + 1)) ** 0.5
        super().step()  # type: ignore[no-untyped-call]


def sparse_tables(model: nn.Module) -> dict[str, nn.Parameter]:
    """Let the tables of ``model`` have sparse gradients; returns them by name.

    Those stay dense that are used twice (tied outputs, a vocabulary of both languages) or keep vectors of a file.
    """
    weights = dict(model.named_parameters(remove_duplicate=False))
    uses = Counter(map(id, weights.values()))
    found = dict[str, nn.Parameter]()
    for name, module in model.named_modules():
        if isinstance(module, Embedding) and uses[id(module.weight)] == 1 and module.learns_all_rows:
            module.make_sparse()
            key = f"{name}.weight".lstrip(".")
            found[key] = weights[key]
    return found


def without_zeros(gradient_VE: Tensor) -> Tensor:
    """Return the same as a sparse gradient with each row that is not zero once, whatever it was."""
    if gradient_VE.is_sparse:
        summed = gradient_VE.coalesce()
        words_W, rows_WE = summed.indices()[0], summed.values()
    else:
        words_W, rows_WE = torch.arange(len(gradient_VE), device=gradient_VE.device), gradient_VE
    kept_W = rows_WE.any(1)
    return torch.sparse_coo_tensor(
        words_W[kept_W].unsqueeze(0), rows_WE[kept_W], gradient_VE.shape, is_coalesced=True, check_invariants=False
    )
