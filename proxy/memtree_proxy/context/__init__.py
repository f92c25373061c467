"""`/context_memory`: messages in, fewer messages out; the tree, the status, deletion."""
