"""Stage 1: a history is cut into leaves, and leaves are grouped into a B-tree of summaries."""
