"""Unfold the tree into a text: the plan, the outline, the excerpts, the recall block."""
