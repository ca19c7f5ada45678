"""How good outputs are: BLEU and chrF, perplexity and bits, word alignments."""
