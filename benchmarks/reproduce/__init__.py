"""Systems compared like for like: a queue of trainings that can be stopped, and the tables that it fills."""
