"""Trained networks without PyTorch: descriptions of networks, evaluated over numpy arrays and C."""
