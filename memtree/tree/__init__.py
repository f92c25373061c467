"""Stage 1: cut a history into leaves, and group leaves into a B-tree of summaries."""
