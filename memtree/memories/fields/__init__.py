"""Fields of a memory, as pure rules: category, tags, times, secrets, trust."""
