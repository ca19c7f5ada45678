"""The works, a file each, in the order in which they are measured."""

from benchmarks.work import Work
from benchmarks.works import (
    decoding,
    language_model,
    recurrent_scan,
    training_step,
    translator_gru_256,
    translator_lstm_512,
)

WORKS: tuple[Work, ...] = (
    translator_lstm_512.WORK,
    translator_gru_256.WORK,
    language_model.WORK,
    recurrent_scan.WORK,
    training_step.WORK,
    decoding.BEAM,
    decoding.GREEDY,
)
