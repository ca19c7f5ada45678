"""Translation: ``task.py`` is the task, ``predictor.py`` translates, ``training.py`` trains."""
