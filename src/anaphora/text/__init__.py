"""Strings to ids and back: normalisation, text units and their vocabularies. Knows no tensors and no formats."""
