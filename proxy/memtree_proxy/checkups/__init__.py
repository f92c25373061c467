"""Check whether the parts of a server work, and say what is wrong with those that do not."""
