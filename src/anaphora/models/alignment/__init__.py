"""Word links learnt from pairs of sentences: IBM model 1, the HMM model in both directions, and their combinations."""
