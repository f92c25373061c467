"""Past sessions of coding agents: search of the agents' own transcripts."""
