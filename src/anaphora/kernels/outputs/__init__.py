"""Losses over large vocabularies that do not look at every word, each with its gradients; one file each."""
