"""What a short text says, as tokens that its paraphrases share: for `relation`."""
