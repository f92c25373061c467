"""Ask a model for memories, and decide which part of its answer is believed."""
