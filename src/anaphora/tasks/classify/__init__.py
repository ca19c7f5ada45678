"""Classification: ``task.py`` is the task, ``predictor.py`` classifies."""
