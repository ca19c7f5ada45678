"""Sequence jobs: one module or folder a task, each exporting its ``TASKS``; ``registry.py`` names them all.

``task.py`` says what a task is. What the folders share lies beside it: the base of experiments, the ``[data]`` table,
work on a corpus, the keeping of scores.
"""
