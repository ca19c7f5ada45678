"""Modules over the kernels: they hold parameters, draw dropout masks and build programs; they know no corpora."""
