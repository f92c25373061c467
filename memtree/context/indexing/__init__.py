"""Index a history: find it in the store, grow its tree, pass new leaves to later stages."""
