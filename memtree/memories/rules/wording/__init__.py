"""Read a short text as tokens that its paraphrases share, for `relation`."""
