"""Export memories to a file, and import files of ours and of other products."""
