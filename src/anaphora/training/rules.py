"""Update rules: what turns a gradient into a step.

torch's own implementations do the work but for centred RMSProp, the fused ones where there are any: on a processor
fused Adam and fused momentum pass over memory once, and are equally reproducible bit for bit, whatever the number of
threads.
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from anaphora.config import Config, by_kind_or
from anaphora.options import SET, Conflict
from anaphora.training.sparse import LazyAdamSteps

Share = Annotated[float, Field(ge=0, lt=1)]
Parameters = list[torch.nn.Parameter]

_DECAYS = "it would shrink the vectors of words that are not in a batch too"


class Rule(Config):
    """Base of update rules; g is the gradient of a weight w after clipping, r the learning rate."""

    learning_rate: float = Field(1.0, gt=0)
    """Learning rate at the start."""
    weight_decay: float = Field(0.0, ge=0)
    """L2 regularisation: this many times w is added to g, after clipping; 0 adds nothing."""

    @property
    def is_sparse(self) -> bool:
        """True if tables of word vectors have gradients for the words of a batch alone."""
        return False

    def build(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Return what makes the steps: by default plain ones, which keep no state."""
        return torch.optim.SGD(parameters, **self._common, fused=True)

    @property
    def _common(self) -> dict[str, Any]:
        """Arguments of every optimizer of torch."""
        return {"lr": self.learning_rate, "weight_decay": self.weight_decay}

    def build_sparse(self, tables: Parameters) -> torch.optim.Optimizer:
        """Return the same for such tables, of a rule that is sparse."""
        raise NotImplementedError


class Sgd(Rule):
    """Stochastic gradient descent: w -= r g."""

    kind: Literal["sgd"] = "sgd"
    sparse: bool = False
    """True if tables of word vectors are updated in the rows of a batch alone, which gives the same weights up to
    rounding, and is faster with large vocabularies; tied, shared and frozen tables are not."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"sparse": True, "weight_decay": SET}, f"{_DECAYS}; set the one to false, or the other to 0"),
    )

    @property
    def is_sparse(self) -> bool:
        return self.sparse

    def build_sparse(self, tables: Parameters) -> torch.optim.Optimizer:
        return torch.optim.SGD(tables, lr=self.learning_rate)


class Momentum(Rule):
    """Gradient descent with momentum m (Polyak 1964): v = m v + g, w -= r v."""

    kind: Literal["momentum"] = "momentum"
    learning_rate: float = Field(0.1, gt=0)
    """Learning rate at the start."""
    momentum: float = Field(0.9, gt=0, lt=1)
    """The share m of the last step that is taken again."""
    nesterov: bool = False
    """True if the gradient counts as taken one step ahead (Sutskever et al. 2013): w -= r (g + m v)."""

    def build(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Steps that keep v."""
        return torch.optim.SGD(parameters, **self._common, momentum=self.momentum, nesterov=self.nesterov, fused=True)


class AveragedSgd(Rule):
    """Gradient descent whose iterates are averaged from some update on (Polyak and Juditsky 1992).

    What is validated, saved and used is the average; training goes on from the iterates. By default averaging starts
    when validation asks for it (NT-ASGD, Merity et al. 2018, algorithm 1).
    """

    kind: Literal["averaged-sgd"] = "averaged-sgd"
    interval: int = Field(5, ge=1)
    """Averaging starts after a validation that is worse than the best of all but the last this many before it."""
    from_epoch: int = Field(0, ge=0)
    """Averaging starts with this epoch (from 1) instead, whatever validation says; 0 leaves it to validation."""

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            {"interval": SET, "from_epoch": SET},
            "validation starts the average by the one, an epoch by the other, whatever validation gives; leave out one "
            "of them",
            written=True,
        ),
    )


class Adadelta(Rule):
    """Adadelta (Zeiler 2012, algorithm 1), its steps times r.

    E = d E + (1 - d) g^2;  s = sqrt(D + e) / sqrt(E + e) g;  D = d D + (1 - d) s^2;  w -= r s.
    """

    kind: Literal["adadelta"] = "adadelta"
    decay: Share = 0.95
    """Decay d of the running means E of squared gradients and D of squared steps."""
    epsilon: float = Field(1e-6, gt=0)
    """The constant e."""

    def build(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Steps that keep E and D."""
        return torch.optim.Adadelta(parameters, **self._common, rho=self.decay, eps=self.epsilon)


class RmsProp(Rule):
    """RMSProp (Tieleman and Hinton 2012): E = d E + (1 - d) g^2, u = g / (sqrt(E) + e), v = m v + u, w -= r v."""

    kind: Literal["rmsprop"] = "rmsprop"
    learning_rate: float = Field(1e-3, gt=0)
    """Learning rate at the start."""
    decay: Share = 0.9
    """Decay d of the running mean E of squared gradients."""
    epsilon: float = Field(1e-8, gt=0)
    """The constant e."""
    momentum: Share = 0.0
    """The share m of v that is kept."""
    centered: bool = False
    """True if E is lessened by the square of the gradients' running mean M (Graves 2013, section 4.2): u = g /
    sqrt(E - M^2 + e)."""

    def build(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Steps that keep E, and v with momentum."""
        if self.centered:
            options = {"decay": self.decay, "epsilon": self.epsilon, "momentum": self.momentum}
            return CentredRmsProp(parameters, self._common | options)
        return torch.optim.RMSprop(
            parameters, **self._common, alpha=self.decay, eps=self.epsilon, momentum=self.momentum
        )


class Moments(Rule):
    """Base of both kinds of Adam (Kingma and Ba 2015, algorithm 1)."""

    learning_rate: float = Field(1e-3, gt=0)
    """Learning rate at the start."""
    betas: tuple[Share, Share] = (0.9, 0.999)
    """Decay of the running means of the gradient and of its square."""
    epsilon: float = Field(1e-8, gt=0)
    """Added to the root of the second mean."""

    def build(self, parameters: Parameters) -> torch.optim.Optimizer:
        """Steps that keep both means."""
        return torch.optim.Adam(parameters, **self._common, betas=self.betas, eps=self.epsilon, fused=True)


class Adam(Moments):
    """Adam (Kingma and Ba 2015, algorithm 1)."""

    kind: Literal["adam"] = "adam"


class LazyAdam(Moments):
    """Adam that moves a word vector, and its running means, only when its word is in the batch: for large vocabularies.

    Words that are not in a batch would go on moving by their means, so it is another rule. The steps t are those of all
    updates. Tied, shared and frozen tables follow plain Adam, as everything else does.
    """

    kind: Literal["lazy-adam"] = "lazy-adam"

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict({"weight_decay": SET}, f'{_DECAYS}: set it to 0, or the optimizer to "adam"'),
    )

    @property
    def is_sparse(self) -> bool:
        return True

    def build_sparse(self, tables: Parameters) -> torch.optim.Optimizer:
        """Steps that keep both means, of all rows."""
        return LazyAdamSteps(tables, self.learning_rate, self.betas, self.epsilon)


AnyRule = Annotated[
    Sgd | Momentum | AveragedSgd | Adadelta | RmsProp | Adam | LazyAdam, Field(discriminator="kind"), by_kind_or("adam")
]
"""An update rule as a recipe names it: ``"sgd"``, or ``{kind = "momentum", rate = 0.5}``; ``{rate = 0.01}`` is Adam."""


class CentredRmsProp(torch.optim.Optimizer):
    """RMSProp with centred squares; what it keeps of each weight is called as torch's own calls it.

        E = d E + (1 - d) g^2        M = d M + (1 - d) g
        u = g / sqrt(max(E - M^2, 0) + e)
        v = m v + u                  w -= r v

    torch's own adds e outside the root, where it cannot help: of a gradient that hardly changes, rounding makes E - M^2
    negative, and its root no number.

    Its options ``lr``, ``decay``, ``epsilon`` and ``momentum`` are r, d, e and m; ``weight_decay`` adds so many w to g.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient; ``closure`` is what torch's contract has, and is not called."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.sub_(group["lr"] * self._direction(group, weight, weight.grad))

    def _direction(self, group: dict[str, Any], weight: Tensor, g: Tensor) -> Tensor:
        """Return v."""
        if group["weight_decay"]:
            g = g.add(weight, alpha=group["weight_decay"])
        kept: dict[str, Tensor] = self.state[weight]
        for name in "square_avg", "grad_avg", "momentum_buffer":
            kept.setdefault(name, torch.zeros_like(weight))
        squares, mean, v = kept["square_avg"], kept["grad_avg"], kept["momentum_buffer"]
        squares.mul_(group["decay"]).addcmul_(g, g, value=1 - group["decay"])
        mean.lerp_(g, 1 - group["decay"])
        spread = squares.addcmul(mean, mean, value=-1).clamp_(min=0).add_(group["epsilon"]).sqrt_()
        return v.mul_(group["momentum"]).addcdiv_(g, spread)
