"""Interpolation of language models: weights of a linear interpolation, a cache of recent text, and the model."""
