"""A process that keeps memory: queues, growing, embedding, summarising, extracting, and wiring."""
