"""Interpolations of language models, as they are fitted and saved; ``inference.interpolation`` computes them."""
