"""Questions that a model answers from memories."""
