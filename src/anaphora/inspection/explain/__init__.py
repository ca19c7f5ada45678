"""Worked examples with numbers for every value, each checked against the kernels."""
