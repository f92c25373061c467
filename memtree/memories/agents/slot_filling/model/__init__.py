"""Ask a model to fill schemas from messages, and decide which part of its answer is believed."""
