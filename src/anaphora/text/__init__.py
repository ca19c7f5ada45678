"""Strings to ids and back: normalisation, text tokens and their vocabularies. Knows no tensors and no formats."""
