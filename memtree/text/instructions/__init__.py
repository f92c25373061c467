"""Instructions of a user that hold for the whole conversation: standing rules and personas."""
