"""What a model is asked when it looks for memories, and what of its answer is believed."""
