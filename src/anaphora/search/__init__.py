"""From a Stepper to symbols: beam search, sampling and forced decoding. Ids and scores only, never text or modules.

A score is a sum of natural logarithms in float64. Everything that is found for a sentence is a function of the
sentence alone: neither its neighbours in the batch nor their order play a part.
"""
