"""Training: optimizer, schedule, early stopping and the loop, over any model and any batches."""
