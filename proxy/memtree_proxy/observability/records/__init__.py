"""Records of ended requests: a row in the log, and daily totals."""
