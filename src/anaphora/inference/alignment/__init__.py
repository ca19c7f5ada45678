"""Word alignments: groups of pairs, translation probabilities, the HMM, and the links of both directions."""
