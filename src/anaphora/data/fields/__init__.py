"""Fields: the kinds of inputs and targets, each with its way from a raw value to a batch, and of an output back."""
