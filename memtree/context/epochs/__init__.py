"""Answers over the turns of an epoch, and for one request alone."""
