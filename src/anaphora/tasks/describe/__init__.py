"""Description of images: ``task.py`` is the task, ``predictor.py`` describes."""
