"""From batches to tags."""

from typing import cast

from anaphora.batch import Batch, Ids, Values
from anaphora.data.tagged_store import TokenEncoder
from anaphora.models.tagger import Tagger
from anaphora.nn.device import device_of


def tags_of(model: Tagger, tokenizer: TokenEncoder, batch: Batch) -> dict[int, list[str]]:
    """The tags of each sentence of a batch, by its example id; puts the model into evaluation mode."""
    found = model.predict(batch.to(device_of(model)))
    lengths = batch.input_ids.lengths_B.tolist()
    if isinstance(found, Ids):
        names = tokenizer.tags.vocabulary
        rows = [[names[tag] for tag in tags[:n]] for tags, n in zip(found.ids_BT.tolist(), lengths, strict=True)]
    else:
        several = cast(Values, found).values_BTD.tolist()
        rows = [
            [tokenizer.tag(label for label, there in enumerate(labels) if there) for labels in tags[:n]]
            for tags, n in zip(several, lengths, strict=True)
        ]
    return dict(zip(batch.example_ids_B.tolist(), rows, strict=True))
