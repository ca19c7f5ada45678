"""Tensors only: the time loop, its parts, and their gradients by hand. ``README.md`` here derives them all."""
