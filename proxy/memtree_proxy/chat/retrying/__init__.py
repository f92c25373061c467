"""What an upstream refuses: recognised, learned from, and sent once more as it can be taken."""
