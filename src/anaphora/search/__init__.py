"""From a Stepper to tokens: beam search, sampling and forced decoding. Ids and scores only, never text or modules.

A score is a sum of natural logarithms in float64. Every result for a sentence is a function of that sentence alone: the
other sentences of the batch and their order change nothing. A search never reads the inputs of a batch: it takes the
number of sentences and the lengths of the memory from ``Stepper.start``. All is computed in arrays of numpy.
"""
