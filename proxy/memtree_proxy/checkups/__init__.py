"""Check whether the parts of a server work, and describe their problems."""
