"""Real-valued sequences: ``task.py`` is the task, ``predictor.py`` draws and continues them."""
