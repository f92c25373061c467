"""The tree of a conversation: leaves, their groups in a B-tree, checks of a model's summaries."""
