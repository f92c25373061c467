"""Documents and their passages over HTTP."""
