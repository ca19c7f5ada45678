"""The network of the toy: one number a letter."""

import torch
from pydantic import Field
from torch import Tensor, nn

from anaphora.batch import Batch
from anaphora.config import Config
from anaphora.protocols import Carry, Loss, VocabularyInfo


class LettersConfig(Config):
    """Letters."""

    start: float = Field(0.0, ge=0)
    """What every number starts from."""


class LetterConfig(Config):
    """The table of the network."""

    letters: LettersConfig = LettersConfig()
    """Letters."""


class Letters(nn.Module):
    """The softmax of one number a letter."""

    def __init__(self, config: LetterConfig, text: VocabularyInfo) -> None:
        super().__init__()
        self.config = config
        self.scores = nn.Parameter(torch.zeros(text.size))

    def initialise(self, seed: int) -> None:
        with torch.no_grad():
            self.scores.fill_(self.config.letters.start)

    def log_probs_V(self) -> Tensor:
        return torch.log_softmax(self.scores, 0)

    def forward(self, batch: Batch, carry: Carry | None = None) -> tuple[Loss, Carry]:
        assert batch.targets is not None
        open_BT = torch.arange(batch.targets.ids_BT.shape[1]) < batch.targets.lengths_B.unsqueeze(1)
        nats_BT = -self.log_probs_V()[batch.targets.ids_BT]
        return Loss((nats_BT * open_BT).sum(), int(batch.targets.lengths_B.sum())), {}
