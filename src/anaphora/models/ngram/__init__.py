"""N-gram language models: counted, smoothed after Kneser and Ney; ``inference.ngram`` scores and searches them."""
