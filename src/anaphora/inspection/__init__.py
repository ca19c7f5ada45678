"""Pictures and reports of what a model does; they need the extra "plot"."""
