"""The data check: counts, faults by line, repeats and unknown words of a corpus, before training on it."""
