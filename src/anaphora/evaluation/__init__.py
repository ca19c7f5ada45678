"""Quality of outputs: BLEU and chrF, perplexity and bits, word alignments."""
