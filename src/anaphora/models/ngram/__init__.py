"""N-gram language models: counting, smoothing, and tables with back-off."""
