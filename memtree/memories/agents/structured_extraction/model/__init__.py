"""What a model is asked that fills schemas from messages, and what of its answer is believed."""
