"""Word alignments learnt from sentence pairs: IBM model 1 and the HMM model; ``inference.alignment`` links words."""
