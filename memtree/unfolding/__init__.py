"""Show the tree: the plan, the outline, the excerpts, the recall block."""
