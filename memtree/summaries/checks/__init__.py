"""The checks that a summary of a model has to pass before it is stored."""
