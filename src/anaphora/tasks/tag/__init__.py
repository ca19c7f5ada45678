"""Tagging: ``task.py`` is the task, ``predictor.py`` tags."""
