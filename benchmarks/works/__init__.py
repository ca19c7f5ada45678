"""The works in the order in which they are measured."""

from benchmarks.work import Work
from benchmarks.works import (
    decoding,
    language_model,
    large_vocabulary,
    recurrent_forward,
    recurrent_scan,
    training_step,
    translators,
)

WORKS: tuple[Work, ...] = (
    translators.LSTM_512.work(),
    translators.GRU_256.work(),
    language_model.WORK,
    large_vocabulary.WORK,
    recurrent_scan.WORK,
    recurrent_scan.COMPILED,
    *recurrent_forward.WORKS,
    training_step.WORK,
    decoding.BEAM,
    decoding.GREEDY,
    decoding.BEAM_SHORTLIST,
    decoding.GREEDY_SHORTLIST,
)
