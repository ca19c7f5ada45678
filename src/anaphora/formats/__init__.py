"""Bytes to records with their line numbers, and back. Knows no vocabularies and no tensors."""
