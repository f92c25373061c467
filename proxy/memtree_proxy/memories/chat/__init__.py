"""Chat memory over HTTP: what is remembered of one chat, by a model or a person."""
