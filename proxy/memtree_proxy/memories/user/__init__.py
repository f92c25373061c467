"""User memories over HTTP: what is remembered of a user beyond any one chat."""
