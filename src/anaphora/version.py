"""The version of the package, for everything that says it."""

VERSION = "0.1.0"
