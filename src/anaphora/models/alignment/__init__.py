"""Word alignments learnt from sentence pairs: IBM model 1, the HMM model in both directions, their combinations."""
