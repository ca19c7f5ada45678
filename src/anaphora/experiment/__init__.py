"""One TOML file becomes one frozen experiment, and an experiment becomes a trained run."""
