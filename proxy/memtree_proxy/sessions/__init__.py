"""Past sessions of coding agents: their own transcripts, searched where they lie."""
