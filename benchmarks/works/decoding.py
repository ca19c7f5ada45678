"""Decoding Multi30k test sentences, beam 5 and greedy, beside JoeyNMT's prediction.

The weights are new, so every output is forced to one length: both sides take the same number of steps, and what is
measured is the search, not what a model says. 14 units is about what the test part's references have. For the same
reason a shortlist has as many candidates as that of a trained run, but any: the frequent ones, and some a source unit.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from anaphora.batch import Batch, Constraints, Ids
from anaphora.data.example_batches import Side, prediction_batches
from anaphora.data.fields.tokens import Tokens
from anaphora.data.ragged import Ragged
from anaphora.kernels.runtime import running
from anaphora.models.translator import Translator
from anaphora.prediction.candidates import Shortlist
from anaphora.prediction.runtime import runtime_for
from anaphora.run.shortlists import TokenShortlist
from anaphora.search.request import SearchRequest
from anaphora.search.search import search
from anaphora.tasks.translation.shortlist import candidates_of
from benchmarks import joeynmt, ours
from benchmarks.material import prepare_pairs, test_sources, tokenizer_of
from benchmarks.work import Precision, Sample, Setting, Work, peak_mib
from benchmarks.works.translators import LSTM_512

SENTENCES = 500
FREQUENT, EACH = 500, 20
"""Candidates of every sentence, and of each of its units: the defaults of ``--shortlist``."""
_STRIDE, _SKEW = 7919, 4
LENGTH = 14
BATCH_TOKENS = 64 * 16
"""At most 64 sentences of the commonest width side by side, as the peer takes 64."""


def decode(beam: int, shortlist: bool, setting: Setting) -> Sample:
    """Our side: from text to text."""
    tokenizer = tokenizer_of(LSTM_512.units)
    model, _ = ours.build(LSTM_512.experiment, LSTM_512.sides(), replace(setting, precision="fp32"))
    assert isinstance(model, Translator)
    texts = test_sources(LSTM_512.units)[: _sentences(setting)]
    stepper = model.stepper()
    request = SearchRequest(max_length=LENGTH, beam=beam, banned_tokens=(tokenizer.symbols.eos,), attention=False)
    runtime = runtime_for(precision=setting.precision)
    shortlisted = _shortlist(tokenizer.symbols.size)
    begin = time.perf_counter()
    sources = Side(Tokens("source", tokenizer), Ragged.of(tokenizer.encode(text) for text in texts))
    outputs: dict[int, str] = {}
    units = 0
    for batch in prediction_batches(sources, BATCH_TOKENS):
        if shortlist:
            batch = replace(batch, constraints=Constraints(_candidates(batch, shortlisted)))
        with running(runtime):
            hypotheses = search(stepper, batch, request)
        for number, found in zip(batch.example_ids_B.tolist(), hypotheses, strict=True):
            outputs[number] = tokenizer.decode(found[0].ids)
            units += len(found[0].ids)
    seconds = time.perf_counter() - begin
    size = {"output units": units, "parameters": ours.parameters(model), "vocabulary": tokenizer.symbols.size}
    return Sample(len(outputs), seconds, size, peak_mib())


def decode_peer(beam: int, setting: Setting) -> Sample:
    """JoeyNMT's."""
    return joeynmt.decode(
        "joeynmt-lstm-512", LSTM_512.units, setting, sentences=_sentences(setting), length=LENGTH, beam=beam
    )


def _shortlist(vocabulary: int) -> TokenShortlist:
    """A shortlist of frequent units more than others, so that a batch has as many candidates as a trained run's."""
    places = np.arange(vocabulary * EACH)
    likely = vocabulary * (_STRIDE * places % vocabulary / vocabulary) ** _SKEW
    ends = np.arange(EACH, len(places) + 1, EACH)
    return TokenShortlist(np.arange(vocabulary), likely.astype(np.int64), ends)


def _candidates(batch: Batch, shortlisted: TokenShortlist) -> Ids:
    """Those of each sentence."""
    ids = batch.input_ids
    rows = [row[:length] for row, length in zip(ids.ids_BT.tolist(), ids.lengths_B.tolist(), strict=True)]
    return candidates_of(shortlisted, rows, Shortlist(FREQUENT, EACH), [()] * len(rows))


def _sentences(setting: Setting) -> int:
    return 128 if setting.quick else SENTENCES


def _work(name: str, beam: int, bars: Mapping[Precision, float], shortlist: bool = False) -> Work:
    return Work(
        name=name,
        measures=f"the first {SENTENCES} sentences of Multi30k test_2016_flickr with the model of translator-lstm-512, "
        f"beam {beam}, every output {LENGTH} units long"
        + (f", from {FREQUENT} candidates and {EACH} for each source unit" if shortlist else ""),
        unit="sentences",
        peer="JoeyNMT 2.3.0, the same model in fp32",
        bars=bars,
        prepare=partial(prepare_pairs, LSTM_512.units),
        ours=partial(decode, beam, shortlist),
        theirs=partial(decode_peer, beam),
    )


BEAM = _work("decoding-beam-5", 5, {"fp32": 5.5, "bf16": 0.0, "int8": 0.0})
GREEDY = _work("decoding-greedy", 1, {"fp32": 5.0, "bf16": 0.0, "int8": 0.0})
BEAM_SHORTLIST = _work("decoding-beam-5-shortlist", 5, {"int8": 12.0}, shortlist=True)
GREEDY_SHORTLIST = _work("decoding-greedy-shortlist", 1, {"int8": 12.0}, shortlist=True)
