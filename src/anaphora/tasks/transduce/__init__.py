"""Transduction: ``task.py`` is the task, ``predictor.py`` writes the outputs."""
