"""What predictors share: search options, streaming over lines, and checks of what a caller passes."""
