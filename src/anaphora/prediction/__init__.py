"""Shared parts of predictors: search options, streaming over lines, and checks of what a caller passes."""
