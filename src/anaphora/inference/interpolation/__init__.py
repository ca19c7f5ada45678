"""Linear interpolation of language models: its weights, a cache of recent text, and the mixture itself."""
