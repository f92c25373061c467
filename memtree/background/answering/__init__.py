"""Answer questions from memories by a model."""
