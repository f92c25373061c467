"""Index a history: find it in the store, grow it, hand it on to later stages."""
