"""The log of what an agent did: files, commands, commits."""
