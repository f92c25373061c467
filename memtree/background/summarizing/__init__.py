"""Stage 3: summaries by a model, made in the background within limits of money and tokens."""
