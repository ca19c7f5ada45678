"""Word alignment: ``task.py`` is the task, ``predictor.py`` links words."""
