"""Whether the parts of a server work, and what is wrong with those that do not."""
