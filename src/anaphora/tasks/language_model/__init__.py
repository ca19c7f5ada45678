"""Language modelling: ``task.py`` is the task, ``predictor.py`` reads and writes text, ``training.py`` trains."""
