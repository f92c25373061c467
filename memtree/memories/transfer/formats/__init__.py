"""The files that memories come in, read one item after the other. Pure, linear in the file."""
