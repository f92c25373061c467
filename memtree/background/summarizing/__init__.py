"""Stage 3: summarise by a model in the background, within limits of money and tokens."""
