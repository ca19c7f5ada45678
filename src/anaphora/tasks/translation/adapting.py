"""The states of known translations, which a search is adapted to: see ``prediction.adaptation``."""

from collections.abc import Sequence

import torch
from torch import Tensor

from anaphora.errors import ConfigError
from anaphora.prediction.adaptation import Adaptation, SimilarPair
from anaphora.prediction.arguments import Given
from anaphora.prediction.options import MAX_TOKENS
from anaphora.protocols import GivesStates, Stepper
from anaphora.search.mixing import Mixed, Neighbours
from anaphora.tasks.translation.forced import Batches
from anaphora.text.tokenizer import Tokenizer


class Adapted:
    """A translator that is adapted to what is known of the sentences of one window."""

    def __init__(
        self,
        stepper: Stepper,
        adaptation: Adaptation,
        sides: tuple[Tokenizer, Tokenizer],
        batches: Batches,
        texts: Sequence[str],
    ) -> None:
        """Find the pairs of all ``texts``, and decode each of them once.

        Raises ConfigError for an ensemble and for fused models, whose predictions come from no single state.
        """
        if not isinstance(stepper, GivesStates):
            raise ConfigError("Adaptation needs a single translator: leave out the other models, or the adaptation.")
        self._stepper, self._adaptation = stepper, adaptation
        self._found = [list(adaptation.find(text))[: adaptation.pairs] for text in texts]
        known = {(pair.source, pair.target): pair for pairs in self._found for pair in pairs}
        self._states = _states(stepper, list(known.values()), sides, batches) if known else {}

    def over(self, places: Sequence[int]) -> Stepper:
        """The Stepper of a batch of the texts in these places."""
        neighbours = [self._neighbours(self._found[place]) for place in places]
        if not any(neighbours):
            return self._stepper
        return Mixed(self._stepper, neighbours, self._adaptation.temperature)

    def _neighbours(self, pairs: Sequence[SimilarPair]) -> Neighbours | None:
        there = [pair for pair in pairs if (pair.source, pair.target) in self._states]
        if not there:
            return None
        keys, ids = zip(*(self._states[pair.source, pair.target] for pair in there), strict=True)
        weight = self._adaptation.weight_for(max(pair.similarity for pair in there))
        return Neighbours(torch.cat(keys), torch.cat(ids), weight)


def _states(
    stepper: GivesStates, pairs: Sequence[SimilarPair], sides: tuple[Tokenizer, Tokenizer], batches: Batches
) -> dict[tuple[str, str], tuple[Tensor, Tensor]]:
    """The states that the target tokens of each pair are predicted from, and the tokens; pairs too long have none."""
    source, target = sides
    encoded = [(pair, Given(pair.source, source.encode(pair.source)), target.encode(pair.target)) for pair in pairs]
    fitting = [row for row in encoded if 0 < len(row[1].ids) <= MAX_TOKENS and 0 < len(row[2]) <= MAX_TOKENS]
    found: dict[tuple[str, str], tuple[Tensor, Tensor]] = {}
    for batch in batches([row[1] for row in fitting], [row[2] for row in fitting]):
        states_TBH, targets = stepper.target_states(batch), batch.target_ids
        for row, number in enumerate(batch.example_ids_B.tolist()):
            pair, length = fitting[number][0], int(targets.lengths_B[row])
            ids_T = targets.ids_BT[row, :length].to(states_TBH.device)
            found[pair.source, pair.target] = states_TBH[:length, row].clone(), ids_T
    return found
