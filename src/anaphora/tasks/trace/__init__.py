"""Real-valued sequences: ``task.py`` is the task, ``predictor.py`` draws, continues and forecasts them."""
