"""N-gram language models: counted, smoothed after Kneser and Ney, and kept as tables with back-off."""
